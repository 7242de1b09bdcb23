import MergeCore
import RecordStore

extension PushTransaction {
    /// Returns the records after it has compared them with the writes.
    ///
    /// - Throws: `different` for another value; `RunAgain` without the edit whose insertion made a list too long to read, or
    ///   `StoreError` if the edits are not independent.
    func verified(_ records: [ReadRecord?]) throws(PushStop) -> [ReadRecord?] {
        for step in plan.steps {
            guard let error = progress.reports[step.index].excess(in: records[step.index]) else { continue }
            guard run.isEachForItself else { throw .store(error) }
            guard run.mode.measuresEachEdit, let problem = error.refusal(of: step.edit.path) else {
                throw .again(.measuringEachEdit)
            }
            // A later edit through another resource made the list longer.
            throw .again(.without(step.index, problem))
        }
        do throws(WriteVerification.Difference) {
            try verify(records.map { $0?.readable })
        } catch {
            throw .different(error)
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

    /// Compares the writes with the records.
    ///
    /// Pushes that delete rows or write referenced columns are not compared, because cascades may change what other
    /// edits wrote.
    ///
    /// - Throws: `WriteVerification.Difference` for a different value.
    private func verify(_ records: [Record?]) throws(WriteVerification.Difference) {
        let deletes = progress.reports.indices.contains { progress.reports[$0].deletes }
        let verification = WriteVerification(run.active.schema)
        guard !deletes, !writer.writesReferenced, verification.applies(to: plan.resources, dialect: run.dialect) else {
            return
        }
        if run.namesEachOnce {
            for index in progress.reports.indices {
                let expected = progress.reports[index].expected.map { (edit: index, row: $0) }
                progress.reports[index].expected = []
                try verification.check(expected, against: records[index], of: progress.reports[index].resource)
            }
            return
        }
        var later: Set<WrittenColumn> = []
        for step in plan.steps.reversed() {
            let resource = step.edit.resource
            let record = records[step.index]
            let expected = progress.reports[step.index].expected.reversed().map { written in
                let section = resource.sections[written.section]
                let row = reference(to: written, of: progress.reports[step.index], in: section)
                // Of two writes to one column, the later counts, through any resource.
                let last = written.keeping { column in
                    later.insert(WrittenColumn(row: row, name: section.columns[column].name)).inserted
                }
                return (edit: step.index, row: last)
            }
            progress.reports[step.index].expected = []
            try verification.check(expected, against: record, of: resource)
        }
    }

    private func reference(
        to row: ExpectedRow, of report: EditReport, in section: Section
    ) -> RowReference {
        run.active.footprints[section].reference(to: row.item ?? report.key ?? RecordKey([]))
    }

    private struct WrittenColumn: Hashable {
        let row: RowReference
        let name: String
    }
}

extension EditReport {
    fileprivate func excess(in record: ReadRecord?) -> StoreError? {
        guard case .unreadable(let record)? = record, record.isTooLong, inserts else { return nil }
        return StoreError(.tooLarge, record.reason)
    }
}
