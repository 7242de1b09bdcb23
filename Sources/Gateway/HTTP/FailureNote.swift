import RecordStore
import Synchronization

/// Carries what is for the log alone, such as what the database said, from where it is known to the line there.
final class FailureNote: Sendable {
    private let cause = Mutex<(any Error)?>(nil)

    func set(_ error: StoreError) { cause.withLock { $0 = error } }

    func set(_ refusal: TokenRefusal) { cause.withLock { $0 = refusal } }

    var text: String? {
        switch cause.withLock({ $0 }) {
        case let refusal as TokenRefusal: refusal.rawValue
        case let error as StoreError: error.description
        default: nil
        }
    }
}
