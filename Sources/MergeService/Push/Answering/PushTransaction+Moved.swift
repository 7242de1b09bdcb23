import MergeCore
import RecordStore

/// Written items that a later edit of the push moved to other records.
extension PushTransaction {
    /// Reads the written items that are not in the records of their edits any more.
    ///
    /// A client reads them only if it may read every record, because their new records may be hidden from it.
    ///
    /// - Parameter records: parallel to the reports.
    func readMovedItems(_ records: [ReadRecord?]) throws(PushStop) {
        guard plan.steps.count > 1 else { return }
        for index in progress.reports.indices {
            let report = progress.reports[index]
            guard report.isMerged, !progress.excluded.contains(run.batch.owners[index]),
                run.view(of: index)?.seesEverything ?? true
            else { continue }
            var rows = records[index]?.readable.map { RecordRows($0, report.resource) }
            for outcome in report.outcomes where outcome.sides != nil && Self.metRow.contains(outcome.kind) {
                let section = report.resource.sections[outcome.section]
                guard case .key(let key)? = outcome.item, run.footprint(section).isShared,
                    rows?.row(outcome.section, key) == nil
                else { continue }
                let found = try facts.rows(
                    of: section, withKey: key, locking: run.session.mustLockReads, includesHidden: true, &writer)
                progress.reports[index].moved[EntryRow(section: outcome.section, key: key)] = found.first
            }
        }
    }

    /// The outcomes of edits that met their row.
    ///
    /// A row that was missing may exist in another record.
    private static let metRow: Set<OutcomeKind> = [
        .applied, .clientWon, .serverWon, .combined, .inserted, .restored,
    ]
}
