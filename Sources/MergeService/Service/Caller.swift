import Synchronization

/// Whoever waits for an answer.
///
/// Once nobody waits, work that has not begun is dropped; work that runs is ended properly.
package final class Caller: Sendable {
    private let left = Atomic<Bool>(false)

    /// A caller who waits.
    package init() {}

    /// Returns true once nobody waits any more.
    package var hasLeft: Bool { left.load(ordering: .acquiring) }

    /// Notes that nobody waits any more, such as when a connection has closed.
    package func leave() { left.store(true, ordering: .releasing) }
}
