import MergeCore
import MergeService
import MergeWire
import RecordStore
import Synchronization

/// Collects facts about a failed request for the log.
final class FailureNote: Sendable {
    struct Facts: Sendable {
        /// The message of the database, or the reason for the refusal of a token.
        var cause: String?
        var code: String?
        var resource: String?
        /// The name of the token.
        var who: String?
    }

    private let state = Mutex(Facts())

    var facts: Facts { state.withLock { $0 } }

    func set(_ error: StoreError) { state.withLock { $0.cause = error.description } }

    func set(_ refusal: TokenRefusal) { state.withLock { $0.cause = refusal.rawValue } }

    func set(who: String) { state.withLock { $0.who = who } }

    /// Stores the problem of a request without a result.
    func note(_ problem: Problem) {
        state.withLock { facts in
            facts.code = problem.code.rawValue
            if let cause = problem.cause { facts.cause = cause }
        }
    }

    /// Stores the first reason for which a push was not merged, apart from `rolledBack`.
    func note(_ answer: PushAnswer) {
        guard answer.status != .merged else { return }
        guard let result = answer.result else {
            let kept = OutcomeReader.answer(answer.body).filter { $0.code != nil }
            guard let found = kept.first(where: { $0.code != ProblemCode.rolledBack.rawValue }) ?? kept.first else {
                return
            }
            return state.withLock { ($0.code, $0.resource) = (found.code, found.resource) }
        }
        let refused = result.results.filter { $0.problem != nil }
        guard let edit = refused.first(where: { $0.problem?.code != .rolledBack }) ?? refused.first,
            let problem = edit.problem
        else { return }
        note(problem)
        state.withLock { $0.resource = edit.resource.name }
    }
}
