import RecordStore
import Synchronization

/// Carries what the database said from where it is known to the line in the log.
final class FailureNote: Sendable {
    private let cause = Mutex<StoreError?>(nil)

    func set(_ error: StoreError) { cause.withLock { $0 = error } }

    var text: String? { cause.withLock { $0?.description } }
}
