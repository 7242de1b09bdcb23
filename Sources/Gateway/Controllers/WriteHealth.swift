import Synchronization

/// Whether pushes failed because the database or the journal could not be written.
///
/// A cheap probe does not find a full disk. So after such a push readiness waits for a probe that needs space.
final class WriteHealth: Sendable {
    private let count = Mutex(0)

    /// Pushes that could not be written since a probe succeeded.
    var failures: Int { count.withLock { $0 } }

    /// Notes that a push could not be written.
    func noteFailure() { count.withLock { $0 += 1 } }

    /// Forgets the failures before a probe that succeeded, unless there were others since.
    func settle(_ failures: Int) { count.withLock { if $0 == failures { $0 = 0 } } }
}
