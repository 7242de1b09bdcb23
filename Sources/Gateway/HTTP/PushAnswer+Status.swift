import MergeService
import MergeWire

extension PushAnswer {
    /// The HTTP status of the answer.
    var httpStatus: Int { isForbidden ? 403 : status.httpStatus }
}
