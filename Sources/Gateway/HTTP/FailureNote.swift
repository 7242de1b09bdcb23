import MergeCore
import MergeService
import MergeWire
import RecordStore
import Synchronization

/// Collects facts about a push or a failed request for the log.
final class FailureNote: Sendable {
    struct Facts: Sendable {
        /// The message of the database, or the reason for the refusal of a token.
        var cause: String?
        var code: String?
        var resource: String?
        /// The key of the record of a push with one edit.
        var record: String?
        /// The kinds of outcomes of a push with their numbers, such as `applied:2,server-won:1`.
        var outcomes: String?
        /// The name of the token.
        var who: String?
    }

    private let state = Mutex(Facts())

    var facts: Facts { state.withLock { $0 } }

    func set(_ error: StoreError) { state.withLock { $0.cause = error.description } }

    func set(_ refusal: TokenRefusal) { state.withLock { $0.cause = refusal.rawValue } }

    func set(who: String) { state.withLock { $0.who = who } }

    private func note(_ result: PushResult) {
        var counts: [OutcomeKind: Int] = [:]
        for outcome in result.results.flatMap(\.outcomes) { counts[outcome.kind, default: 0] += 1 }
        let outcomes = OutcomeKind.allCases.compactMap { kind in counts[kind].map { "\(kind.rawValue):\($0)" } }
        let only = result.results.count == 1 ? result.results[0] : nil
        state.withLock { facts in
            if !outcomes.isEmpty { facts.outcomes = outcomes.joined(separator: ",") }
            guard let only else { return }
            facts.resource = only.resource.name
            if case .key(let key)? = only.id { facts.record = KeyText.encode(key, only.resource.root) }
        }
    }

    /// Stores the problem of a request without a result.
    func note(_ problem: Problem) {
        state.withLock { facts in
            facts.code = problem.code.rawValue
            if let cause = problem.cause { facts.cause = cause }
        }
    }

    /// Stores the outcomes of a push, and the first reason for which it was not merged, apart from `rolledBack`.
    func note(_ answer: PushAnswer) {
        if let result = answer.result { note(result) }
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
