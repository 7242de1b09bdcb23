import MergeCore
import RecordStore

/// Counts the unexpected errors of each key, so that a push that can never succeed does not block its client forever.
///
/// All gateways share the count in the journal, and it survives their restarts.
enum UnexpectedErrors {
    /// After these errors a client sends the push again; the next error is final.
    private static let mostRetries = 2

    /// Returns the problem of a push that an error refuses finally; nil if the client sends it again.
    static func refusal(
        of push: PushItem, after error: StoreError, in engine: any RecordEngine
    ) async -> Problem? {
        if var problem = error.refusal {
            problem.cause = error.description
            return problem
        }
        guard case .apply(let key?) = push.request.purpose, let journal = push.active.journal,
            await isUnexpected(error, of: push, in: engine),
            let count = try? await note(key, of: push.request.sender, in: journal, until: push.deadline),
            count > mostRetries
        else { return nil }
        var problem = Problem(
            .unexpected,
            detail: "The database or the gateway met an unexpected error three times. Nothing was written. "
                + "The gateway's log contains the errors.", retry: .never)
        problem.cause = error.description
        return problem
    }

    /// Returns true for an unclassified error.
    ///
    /// Also returns true for a missing table or column if the tables of the rules are unchanged. Then a trigger or a
    /// view names it, and reading the rules again does not help.
    private static func isUnexpected(
        _ error: StoreError, of push: PushItem, in engine: any RecordEngine
    ) async -> Bool {
        switch error.kind {
        case .other: return true
        case .schemaChanged:
            let tables = Set(push.active.catalog.resources.flatMap { $0.sections.map(\.table) })
            guard let now = try? await engine.schema(of: Array(tables), deadline: push.deadline) else { return false }
            return tables.allSatisfy { now.tables[$0] == push.active.schema.tables[$0] }
        default: return false
        }
    }

    /// Records one more error of a key.
    ///
    /// - Returns: the number of errors so far, at most one more than the retries.
    private static func note(
        _ key: PushKey, of sender: Sender, in journal: Journal, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Int {
        try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
            for number in 1...mostRetries {
                do throws(StoreError) {
                    _ = try session.execute(journal.tables.noteUnexpected(number, of: key.name, sender: sender))
                    return .commit(number)
                } catch {
                    guard error.isCollision else { throw error }
                }
            }
            return .rollback(mostRetries + 1)
        }
    }
}
