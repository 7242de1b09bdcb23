import MergeCore
import RecordStore

extension PushTransaction {
    /// Returns the records after it has compared them with the writes.
    ///
    /// - Throws: `WriteProof.Difference` for a different value. If an insertion made a list too long to read:
    ///   `RunAgain` if edits are independent, else `StoreError`.
    func proved(_ records: [ReadRecord?]) throws -> [ReadRecord?] {
        for step in plan.steps {
            guard let error = reports[step.index].excess(in: records[step.index]) else { continue }
            guard isEachForItself else { throw error }
            guard mode.measuresEachEdit, let problem = error.refusal(of: step.edit.path) else {
                throw RunAgain.measuringEachEdit
            }
            // A later edit through another resource made the list longer.
            throw RunAgain.without(step.index, problem)
        }
        try prove(records.map { $0?.readable })
        return records
    }

    /// Returns the problem of an edit that made a list too long to read.
    func excess(of step: PushPlan.Step) throws -> Problem? {
        guard reports[step.index].inserts else { return nil }
        let collector = RecordCollector(session, dialect: dialect, limits: limits)
        let record = try collector.records(of: [reports[step.index]])[0]
        return reports[step.index].excess(in: record)?.refusal(of: step.edit.path)
    }

    /// Compares the writes with the records.
    ///
    /// Pushes that delete rows or write referenced columns are not compared, because cascades may change what other
    /// edits wrote.
    ///
    /// - Throws: `WriteProof.Difference` for a different value.
    private func prove(_ records: [Record?]) throws(WriteProof.Difference) {
        let deletes = reports.indices.contains { reports[$0].deletes }
        let proof = WriteProof(active.schema)
        guard !deletes, !writesReferenced, proof.applies(to: plan.resources, dialect: dialect) else { return }
        if namesEachOnce {
            for index in reports.indices {
                let meant = reports[index].meant.map { (edit: index, write: $0) }
                reports[index].meant = []
                try proof.check(meant, against: records[index], of: reports[index].resource)
            }
            return
        }
        var later: Set<WrittenColumn> = []
        for step in plan.steps.reversed() {
            let resource = step.edit.resource
            let record = records[step.index]
            let meant = reports[step.index].meant.reversed().map { write in
                let section = resource.sections[write.section]
                let row = reference(to: write, of: reports[step.index], in: section)
                // Of two writes to one column, the later counts, through any resource.
                let last = write.keeping { column in
                    later.insert(WrittenColumn(row: row, name: section.columns[column].name)).inserted
                }
                return (edit: step.index, write: last)
            }
            reports[step.index].meant = []
            try proof.check(meant, against: record, of: resource)
        }
    }

    private func reference(
        to write: WriteProof.Meant, of report: EditReport, in section: Section
    ) -> RowReference {
        active.footprints[section].reference(to: write.item ?? report.key ?? RecordKey([]))
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
