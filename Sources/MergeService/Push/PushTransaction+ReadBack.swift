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
        do throws(WriteProof.Difference) {
            try prove(records.map { $0?.readable })
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
    /// - Throws: `WriteProof.Difference` for a different value.
    private func prove(_ records: [Record?]) throws(WriteProof.Difference) {
        let deletes = progress.reports.indices.contains { progress.reports[$0].deletes }
        let proof = WriteProof(run.active.schema)
        guard !deletes, !writer.writesReferenced, proof.applies(to: plan.resources, dialect: run.dialect) else {
            return
        }
        if run.namesEachOnce {
            for index in progress.reports.indices {
                let meant = progress.reports[index].meant.map { (edit: index, write: $0) }
                progress.reports[index].meant = []
                try proof.check(meant, against: records[index], of: progress.reports[index].resource)
            }
            return
        }
        var later: Set<WrittenColumn> = []
        for step in plan.steps.reversed() {
            let resource = step.edit.resource
            let record = records[step.index]
            let meant = progress.reports[step.index].meant.reversed().map { write in
                let section = resource.sections[write.section]
                let row = reference(to: write, of: progress.reports[step.index], in: section)
                // Of two writes to one column, the later counts, through any resource.
                let last = write.keeping { column in
                    later.insert(WrittenColumn(row: row, name: section.columns[column].name)).inserted
                }
                return (edit: step.index, write: last)
            }
            progress.reports[step.index].meant = []
            try proof.check(meant, against: record, of: resource)
        }
    }

    private func reference(
        to write: WriteProof.Meant, of report: EditReport, in section: Section
    ) -> RowReference {
        run.active.footprints[section].reference(to: write.item ?? report.key ?? RecordKey([]))
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
