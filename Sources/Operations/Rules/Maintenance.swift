package import MergeCore
import Synchronization

/// Maintenance of one gateway: reads go on, pushes, scan and sequencing stop.
///
/// The state is this process's own. A row of the journal would go back and forth with the very restore that maintenance
/// is for.
package final class Maintenance: Sendable {
    private struct State {
        var reason: String?
        /// Pushes that were let in before and have no answer yet.
        var running = 0
    }

    private let state = Mutex(State())

    /// Seconds after which a client should send a push again.
    private static let pause = 10

    /// True while maintenance is on.
    package var isOn: Bool { reason != nil }

    /// The reason for which maintenance is on; nil while it is off.
    package var reason: String? { state.withLock { $0.reason } }

    /// Pushes that run at this moment.
    ///
    /// None starts while maintenance is on.
    package var running: Int { state.withLock { $0.running } }

    /// Switches maintenance on for a reason, or off if there is none.
    package func set(_ reason: String?) { state.withLock { $0.reason = reason } }

    /// Runs a push.
    ///
    /// - Throws: a 503 `Problem` while maintenance is on, or what the push throws.
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
        .maintenance, detail: "Nothing was written; try again later.", retry: .later(.notReady, after: pause))
}
