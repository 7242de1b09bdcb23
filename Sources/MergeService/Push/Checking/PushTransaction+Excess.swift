import MergeCore
import RecordStore

/// Lists that insertions made too long to read.
extension PushTransaction {
    /// Returns the records if none of their lists has become too long to read.
    ///
    /// - Throws: `RunAgain` without the edit whose insertion made the list too long, or `StoreError` if the edits are not
    ///   independent.
    func measured(_ records: [ReadRecord?]) throws(PushStop) -> [ReadRecord?] {
        for step in plan.steps {
            guard let error = progress.reports[step.index].excess(in: records[step.index]) else { continue }
            guard run.isEachForItself else { throw .store(error) }
            guard run.mode.measuresEachEdit, let problem = error.refusal(of: step.edit.path) else {
                throw .again(.measuringEachEdit)
            }
            // A later edit through another resource made the list longer.
            throw .again(.without(step.index, problem))
        }
        return records
    }

    /// Returns the problem of an edit that made a list too long to read.
    func excess(of step: PushPlan.Step) throws(PushStop) -> Problem? {
        let report = progress.reports[step.index]
        guard report.inserts else { return nil }
        let record = try run.reading { () throws(StoreError) in try collector.records(of: [report])[0] }
        return report.excess(in: record)?.refusal(of: step.edit.path)
    }
}

extension EditReport {
    fileprivate func excess(in record: ReadRecord?) -> StoreError? {
        guard case .unreadable(let record)? = record, record.isTooLong, inserts else { return nil }
        return StoreError(.tooLarge, record.reason)
    }
}
