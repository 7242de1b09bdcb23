import Synchronization

/// Counts pushes that failed because the database or the journal was not writable.
///
/// A cheap probe does not detect a full disk. After a failure, readiness needs a probe that allocates space.
final class WriteHealth: Sendable {
    private let count = Mutex(0)

    /// The failures since the last successful probe.
    var failures: Int { count.withLock { $0 } }

    func noteFailure() { count.withLock { $0 += 1 } }

    /// Clears the failures before a successful probe, unless more have followed.
    func settle(_ failures: Int) { count.withLock { if $0 == failures { $0 = 0 } } }
}
