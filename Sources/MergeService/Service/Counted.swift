import Synchronization

/// Counts those who do the same at once, up to a bound.
final class Counted: Sendable {
    private let count = Mutex(0)

    /// Lets one more in.
    ///
    /// - Returns: false where the bound is reached; else `leave` has to follow.
    func enter(atMost bound: Int) -> Bool {
        count.withLock { count in
            guard count < bound else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
