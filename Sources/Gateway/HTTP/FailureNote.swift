import MergeCore
import MergeService
import MergeWire
import RecordStore
import Synchronization

/// Carries what is for the log alone, such as what the database said, from where it is known to the line there.
final class FailureNote: Sendable {
    /// The facts that are known of a request so far.
    struct Facts: Sendable {
        /// The database's own words, or the reason for which a token opens nothing.
        var cause: String?
        /// The code of the problem that was answered.
        var code: String?
        /// The resource that the problem is about.
        var resource: String?
        /// The name of the token.
        var who: String?
    }

    private let state = Mutex(Facts())

    var facts: Facts { state.withLock { $0 } }

    func set(_ error: StoreError) { state.withLock { $0.cause = error.description } }

    func set(_ refusal: TokenRefusal) { state.withLock { $0.cause = refusal.rawValue } }

    /// Notes the name of the token that a request came with.
    func set(who: String) { state.withLock { $0.who = who } }

    /// Notes the problem of a request that has no result.
    func note(_ problem: Problem) {
        state.withLock { facts in
            facts.code = problem.code.rawValue
            if let cause = problem.cause { facts.cause = cause }
        }
    }

    /// Notes why a push was not merged: the first reason that is its own.
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
