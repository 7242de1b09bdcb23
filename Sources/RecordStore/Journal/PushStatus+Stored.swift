import MergeCore

/// The codes of statuses in the journal, which gateways of all versions read.
extension PushStatus {
    var storedCode: Int {
        switch self {
        case .merged: 200
        case .partial: 207
        case .rejected: 409
        case .failed: 422
        }
    }

    /// - Parameter storedCode: a value of the column; an unknown one is a failure, so that the key stays in use and
    ///   nothing runs twice.
    init(storedCode: Int) {
        let all: [PushStatus] = [.merged, .partial, .rejected, .failed]
        self = all.first { $0.storedCode == storedCode } ?? .failed
    }
}

extension FailureKind {
    /// The value of the column `code`; nil if the code of the status is used.
    var storedCode: Int? {
        switch self {
        case .forbidden: 403
        case .expiredKey: 440
        case .other: nil
        }
    }

    init(storedCode: Int) {
        self = [.forbidden, .expiredKey].first { $0.storedCode == storedCode } ?? .other
    }
}
