import MergeCore

/// The numbers by which the journal knows the statuses of answers; gateways of every age read them.
extension PushStatus {
    /// The number in the journal's column `code`.
    var storedCode: Int {
        switch self {
        case .merged: 200
        case .partial: 207
        case .rejected: 409
        case .failed: 422
        }
    }

    /// The number of a failure because of what the client may not do.
    static let forbiddenCode = 403

    /// - Parameter storedCode: a number of the column; one that no gateway wrote is taken for a failure, so that the
    ///   key stays in use and nothing runs twice.
    init(storedCode: Int) {
        let all: [PushStatus] = [.merged, .partial, .rejected, .failed]
        self = all.first { $0.storedCode == storedCode } ?? .failed
    }
}
