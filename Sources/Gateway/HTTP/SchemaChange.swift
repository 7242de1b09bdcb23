import MergeService
import Operations
import RecordStore

extension RulesBox {
    /// The maximum runs of a request.
    private static let mostRuns = 3

    /// Runs a request, and again if a table was altered and other rules are active.
    ///
    /// A request that detects an altered table has written nothing.
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
