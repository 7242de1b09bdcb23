import MergeCore
import MergeService
import MergeWire

extension PushAnswer {
    var httpStatus: Int {
        switch failure {
        case .forbidden: 403
        case .expiredKey: 409
        case .other: status.httpStatus
        }
    }
}
