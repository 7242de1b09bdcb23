package import MergeService
import Synchronization

/// The rules that are served at this moment, shared by all requests; a request takes them once and keeps them.
package final class RulesBox: Sendable {
    private struct State {
        var active: ActiveRules?
        var journal: JournalStatus?
        var trouble: [String] = ["the rules have not been read yet"]
    }

    private let state = Mutex(State())
    private let hints: AsyncStream<Void>
    private let hint: AsyncStream<Void>.Continuation

    init() {
        (hints, hint) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The rules that are served, with schema and journal; nil as long as none can be.
    package var active: ActiveRules? { state.withLock { $0.active } }

    /// Sentences for operators: why nothing is served, or why the newest rules are not.
    package var trouble: [String] { state.withLock { $0.trouble } }

    /// The promise of the journal; nil as long as it is not open.
    package var promise: String? { journal?.promise }

    /// The journal; nil as long as it is not open.
    var journal: JournalStatus? { state.withLock { $0.journal } }

    /// Serves rules from now on, whatever was wrong before.
    func serve(_ active: ActiveRules, _ journal: JournalStatus) {
        state.withLock { $0 = State(active: active, journal: journal, trouble: []) }
    }

    /// Keeps what is served and notes what is wrong.
    func note(_ trouble: [String]) {
        state.withLock { $0.trouble = trouble }
    }

    /// Asks for the rules and the schema to be read again soon.
    package func askForReload() { hint.yield() }

    /// The requests for another reading; several that come at once are one.
    var reloadRequests: AsyncStream<Void> { hints }
}
