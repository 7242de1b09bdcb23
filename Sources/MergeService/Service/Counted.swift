import Synchronization

/// Counts concurrent users of a resource, up to a limit.
final class Counted: Sendable {
    private let count = Mutex(0)

    /// Adds a user; returns false at the limit, otherwise `leave` must follow.
    func enter(atMost bound: Int) -> Bool {
        count.withLock { count in
            guard count < bound else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
