import MergeService
import Operations
import RecordStore

extension RulesBox {
    /// The most times that a request runs because its tables are altered.
    static let mostRuns = 3

    /// Returns true if a request failed because a table was altered and other rules are active by now.
    ///
    /// It has written nothing then, so it can run again under them.
    ///
    /// - Parameter former: the rules that it ran under.
    func mayRunAgain(
        after error: any Error, under former: ActiveRules?, until deadline: ContinuousClock.Instant
    ) async -> Bool {
        let cause = (error as? Failure)?.cause ?? error as? StoreError
        guard cause?.kind == .schemaChanged else { return false }
        return await hasOther(than: former, until: deadline)
    }
}
