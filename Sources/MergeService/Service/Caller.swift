import Synchronization

/// The client that waits for an answer.
///
/// After it has disconnected, waiting work is dropped and running work ends cleanly.
package final class Caller: Sendable {
    private let left = Atomic<Bool>(false)

    /// Creates a caller that waits.
    package init() {}

    /// True after the client has disconnected.
    package var hasLeft: Bool { left.load(ordering: .acquiring) }

    /// Records that the client has disconnected.
    package func leave() { left.store(true, ordering: .releasing) }
}
