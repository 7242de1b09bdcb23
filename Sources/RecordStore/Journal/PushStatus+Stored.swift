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

    /// - Parameter storedCode: a number of the column; one that no gateway wrote is taken for a failure, so that the
    ///   key stays in use and nothing runs twice.
    init(storedCode: Int) {
        let all: [PushStatus] = [.merged, .partial, .rejected, .failed]
        self = all.first { $0.storedCode == storedCode } ?? .failed
    }
}

extension FailureKind {
    /// The number in the journal's column `code`; nil if that of the status is used.
    var storedCode: Int? {
        switch self {
        case .forbidden: 403
        case .expiredKey: 440
        case .other: nil
        }
    }

    /// - Parameter storedCode: a number of the column.
    init(storedCode: Int) {
        self = [.forbidden, .expiredKey].first { $0.storedCode == storedCode } ?? .other
    }
}
