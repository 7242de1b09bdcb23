import MergeService
import Operations
import RecordStore

extension RulesBox {
    /// The maximum runs of a request whose tables are altered.
    private static let mostRuns = 3

    /// Runs a request, and runs it again under new rules if a table was altered meanwhile.
    ///
    /// A request that detects an altered table has written nothing.
    ///
    /// - Parameter run: runs the request under the active rules.
    func underNewestRules<Answer>(
        until deadline: ContinuousClock.Instant, _ run: (ActiveRules?) async throws -> Answer
    ) async throws -> Answer {
        for _ in 1..<Self.mostRuns {
            let current = active
            do {
                return try await run(current)
            } catch {
                let cause = (error as? Failure)?.cause ?? error as? StoreError
                guard cause?.kind == .schemaChanged, await hasOther(than: current, until: deadline) else { throw error }
            }
        }
        return try await run(active)
    }
}
