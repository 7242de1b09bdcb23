package import MergeCore

extension PushStatus {
    /// The HTTP status of Protocol.md, section 5.
    package var httpStatus: Int {
        switch self {
        case .merged: 200
        case .partial: 207
        case .rejected: 409
        case .failed: 422
        }
    }
}
