import MergeService
import Synchronization

/// The rules that are served at this moment, shared by all requests; a request takes them once and keeps them.
final class RulesBox: Sendable {
    private struct State {
        var served: Served?
        var journal: JournalStatus?
        var trouble: [String] = ["the rules have not been read yet"]
    }

    private let state = Mutex(State())
    private let hints: AsyncStream<Void>
    private let hint: AsyncStream<Void>.Continuation

    init() {
        (hints, hint) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var served: Served? { state.withLock { $0.served } }

    /// Sentences for operators: why nothing is served, or why the newest rules are not.
    var trouble: [String] { state.withLock { $0.trouble } }

    /// The promise of the journal; nil as long as it is not open.
    var promise: String? { journal?.promise }

    var journal: JournalStatus? { state.withLock { $0.journal } }

    func serve(_ served: Served, _ journal: JournalStatus) {
        state.withLock { $0 = State(served: served, journal: journal, trouble: []) }
    }

    /// Keeps what is served and notes what is wrong.
    func note(_ trouble: [String]) {
        state.withLock { $0.trouble = trouble }
    }

    /// Asks for the rules and the schema to be read again soon.
    func askForReload() { hint.yield() }

    var reloadRequests: AsyncStream<Void> { hints }
}
