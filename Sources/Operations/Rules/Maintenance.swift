package import MergeCore
import Synchronization

/// Maintenance of one gateway: it serves reads, and stops pushes, scan and sequencing.
///
/// The state is in this process. In the journal, the restore during maintenance would change it.
package final class Maintenance: Sendable {
    private struct State {
        var reason: String?
        /// Accepted pushes without an answer yet.
        var running = 0
    }

    private let state = Mutex(State())

    /// Seconds after which a client should send a push again.
    private static let pause = 10

    /// True while maintenance is on.
    package var isOn: Bool { reason != nil }

    /// The reason for maintenance; nil while it is off.
    package var reason: String? { state.withLock { $0.reason } }

    /// The number of running pushes.
    ///
    /// None starts while maintenance is on.
    package var running: Int { state.withLock { $0.running } }

    /// Switches maintenance on for a reason; nil switches it off.
    package func set(_ reason: String?) { state.withLock { $0.reason = reason } }

    /// Runs a push.
    ///
    /// - Throws: a 503 `Problem` while maintenance is on, or the error of the push.
    package func run<Answer, Fault: Error>(
        failingWith fault: (Problem) -> Fault, _ push: () async throws(Fault) -> Answer
    ) async throws(Fault) -> Answer {
        let isLetIn = state.withLock { state in
            if state.reason == nil { state.running += 1 }
            return state.reason == nil
        }
        guard isLetIn else { throw fault(Self.problem) }
        defer { state.withLock { $0.running -= 1 } }
        return try await push()
    }

    private static let problem = Problem(
        .maintenance, detail: "Nothing was written. Try again later.", retry: .later(.notReady, after: pause))
}
