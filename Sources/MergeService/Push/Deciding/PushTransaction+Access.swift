import MergeCore
import RecordStore

/// The rights of the edits' clients.
extension PushTransaction {
    /// Returns a root row if it is visible to the client of an edit, otherwise nil.
    func shown(_ root: [Value]?, to report: Int) -> [Value]? {
        let resource = progress.reports[report].resource
        // Only committed values count, not values that an earlier edit of the push wrote.
        if let root, run.isKept, progress.reports[report].conditions == nil, !progress.reports[report].createsRecord,
            !facts.before.isNew(root, in: resource.root)
        {
            progress.reports[report].conditions = ConditionTuple(
                facts.before.original(of: root, in: resource.root) ?? root, of: resource)
        }
        guard let view = run.view(of: report), let root else { return root }
        progress.reports[report].isHidden = !view.shows(root)
        if progress.reports[report].isHidden { return nil }
        if progress.reports[report].held == nil { progress.reports[report].held = rights(of: report).grants(on: root) }
        return root
    }

    /// Records which roles permit the following write; one must apply to the final record.
    ///
    /// - Parameter first: the position of the row's first outcome.
    /// - Throws: `RunAgain` if an earlier edit of this push moved the deleted row out of its client's permitted
    ///   rows.
    func recordNeededRoles(_ row: EditedRow, _ change: RowChange, root: [Value]?, outcomes first: Int) throws(PushStop)
    {
        if case .delete = change, row.section.kind == .root, let root { try checkInside(before: row, root) }
        guard run.view(of: row.index) != nil else { return }
        let rights = rights(of: row.index)
        let report = progress.reports[row.index]
        let needs = rights.needs(
            of: change, by: row, outcomes: report.outcomes[first...], among: rights.held(on: root, report: report))
        progress.reports[row.index].needs.formUnion(needs)
        if case .insert = change, row.section.kind == .root { progress.reports[row.index].createsRecord = true }
    }

    func rights(of edit: Int) -> RowRights { RowRights(of: run.view(of: edit), before: facts.before) }

    /// Checks that a role that permits the writes applies to each written record.
    ///
    /// - Parameter records: parallel to the progress.reports.
    /// - Throws: `RunAgain` without the edit that moved a record out of them.
    func checkInside(_ records: [ReadRecord?]) throws(PushStop) {
        if run.views.isEmpty { return }
        for index in progress.reports.indices
        where !progress.reports[index].needs.isEmpty && progress.reports[index].isMerged {
            if progress.excluded.contains(run.batch.owners[index]) { continue }
            if case .one(let root?)? = records[index]?.readable?.sections.first {
                try checkInside(index, root)
            } else if let root = try rowOfRecord(index) {
                // The rules now hide the row, but it must still meet the client's conditions.
                try checkInside(index, root)
            }
        }
    }

    /// Checks earlier edits of a row before its deletion, on its current values.
    private func checkInside(before row: EditedRow, _ root: [Value]) throws(PushStop) {
        if run.views.isEmpty { return }
        let key = row.section.key(of: root)
        let table = run.footprint(row.section).table
        for index in progress.reports.indices
        where !progress.reports[index].needs.isEmpty && progress.reports[index].isMerged {
            let other = progress.reports[index].resource.root
            guard index != row.index, run.footprint(other).table == table,
                let edited = progress.reports[index].key, row.section.isSame(key, as: edited, of: other)
            else { continue }
            if progress.reports[index].resource === row.resource {
                try checkInside(index, root)
            } else {
                if run.batch.isShared { throw .again(.alone) }
                if let root = try rowOfRecord(index) { try checkInside(index, root) }
            }
        }
    }

    /// Returns the root row of an edit's record, even if the rules hide it.
    private func rowOfRecord(_ report: Int) throws(PushStop) -> [Value]? {
        try facts.root(progress.reports[report].key, of: progress.reports[report].resource, &writer)
    }

    private func checkInside(_ report: Int, _ root: [Value]) throws(PushStop) {
        guard let view = run.view(of: report) else { return }
        let after = view.grants(on: root)
        if progress.reports[report].needs.allSatisfy({ !$0.intersection(after).isEmpty }) { return }
        if run.batch.isShared { throw .again(.alone) }
        let edit = mover(of: report, to: root)
        throw .again(
            .without(
                edit,
                Problem(
                    .outsideRows,
                    detail: "The merged row would not be one of the rows that the rules allow this client.",
                    path: plan.push.edits[edit].path, retry: .never)))
    }

    /// Returns the change of an edit's own record for access conditions; nil if no conditions test it.
    func conditionStep(of report: Int, to record: ReadRecord?) -> ConditionStep? {
        let resource = progress.reports[report].resource
        guard resource.access?.columns.isEmpty == false else { return nil }
        return ConditionStep(
            before: progress.reports[report].conditions?.bytes, after: record?.conditions(of: resource)?.bytes)
    }

    // MARK: Creating

    /// Adds the columns that come from claims to those of a new row.
    ///
    /// - Parameter known: the deleted row, if the edit restores it; its values take precedence.
    /// - Throws: a refusal, 403, if a claim is missing or its column cannot store it.
    func completing(_ assignments: [Assignment], of row: EditedRow, known: RawRow?) throws(PushStop) -> [Assignment] {
        guard var claimed = rights(of: row.index).claimed(by: row) else {
            throw .refused(
                row.index,
                Problem(
                    .outsideRows, detail: "The rules set a column from a claim that the token does not have.",
                    path: row.edit.path, retry: .never))
        }
        if case .edit = row.edit.action {
            claimed.removeAll { part in
                let name = row.section.columns[part.column].name
                return known?.values.contains { $0.column.name == name } == true
                    || assignments.contains { $0.column == part.column && !$0.value.isNull }
            }
        }
        if claimed.isEmpty { return assignments }
        return assignments.filter { part in !claimed.contains { $0.column == part.column } } + claimed
    }
}
