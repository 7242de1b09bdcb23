import Synchronization

/// Whoever waits for an answer.
///
/// What has not begun is not begun any more once nobody waits for it; what runs is ended properly.
package final class Caller: Sendable {
    private let left = Atomic<Bool>(false)

    package init() {}

    /// Returns true once nobody waits any more.
    package var hasLeft: Bool { left.load(ordering: .acquiring) }

    /// Notes that nobody waits any more, such as when a connection has closed.
    package func leave() { left.store(true, ordering: .releasing) }
}
