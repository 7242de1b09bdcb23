import MergeCore

/// The edit that moved a record out of its client's rows.
extension PushTransaction {
    /// Returns the last edit that wrote a value that access conditions of a record test: in its row, or in a row to
    /// which it refers.
    ///
    /// - Parameter root: the record's own row after the writes.
    func mover(of report: Int, to root: [Value]) -> Int {
        let reports = progress.reports
        return reports.indices.last { index in
            guard run.batch.owners[index] == run.batch.owners[report] else { return false }
            return reports[index].outcomes.contains { outcome in
                guard outcome.kind.writes else { return false }
                return moves(reports[report], by: outcome, of: reports[index])
                    || movesReferred(reports[report], root: root, by: outcome, of: reports[index])
            }
        } ?? report
    }

    /// Returns true if an outcome wrote a tested column of a record's own row, or a reference to a tested row.
    private func moves(_ moved: EditReport, by outcome: Outcome, of report: EditReport) -> Bool {
        guard outcome.section == 0, report.resource === moved.resource, report.key == moved.key else { return false }
        guard let group = outcome.group else { return true }
        let root = moved.resource.root
        let tested = Set(
            (moved.resource.access?.columns ?? []).map { (root.columns[$0].lookup?.own ?? root.columns[$0]).name })
        return root.groups[group].positions.contains { tested.contains(root.columns[root.fields[$0].column].name) }
    }

    /// Returns true if an outcome wrote a tested column of a row to which a record's row refers.
    private func movesReferred(
        _ moved: EditReport, root: [Value], by outcome: Outcome, of report: EditReport
    ) -> Bool {
        let section = report.resource.sections[outcome.section]
        let steps = run.active.views.conditionSteps(to: section.table)
        return (moved.resource.access?.steps ?? []).contains { step in
            guard steps.contains(step) else { return false }
            if let group = outcome.group {
                let names = section.groups[group].positions.map { section.columns[section.fields[$0].column].name }
                guard names.contains(step.column.name) || names.contains(step.key.name) else { return false }
            }
            guard section.keyCount == 1, section.columns[0].name == step.key.name,
                let own = moved.resource.root.columns.firstIndex(of: step.own),
                let key = outcome.itemKey ?? (section.kind == .root ? report.key : nil)
            else { return true }
            return key == RecordKey([section.columns[0].converted(root[own], from: step.own)])
        }
    }
}

extension Outcome {
    /// The key of the item; nil for the record's own row.
    fileprivate var itemKey: RecordKey? { if case .key(let key)? = item { key } else { nil } }
}
