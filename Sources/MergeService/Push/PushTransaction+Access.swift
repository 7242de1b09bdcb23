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
        if progress.reports[report].held == nil { progress.reports[report].held = grants(on: root, in: view) }
        return root
    }

    /// Returns the edit without groups that its client may not read, so that a deletion does not compare them.
    func readable(_ row: EditedRow, root: [Value]?) -> EditedRow {
        guard let view = run.view(of: row.index), case .delete(let groups) = row.edit.action, let root else {
            return row
        }
        let sight = view.sight(grants(on: root, in: view))
        let known = groups.filter { sight.reads(group: row.section.groups[$0.group], in: row.edit.section) }
        if known.count == groups.count { return row }
        return EditedRow(
            edit: RowEdit(
                section: row.edit.section, id: row.edit.id, action: .delete(known), path: row.edit.path,
                extras: row.edit.extras), step: row.step)
    }

    /// Returns the roles that apply to a root row now and applied to it before the push.
    ///
    /// A right that an earlier edit of the push brings does not count: a refused push or a preview would reveal values.
    private func grants(on root: [Value], in view: ResourceView) -> GrantSet {
        let now = view.grants(on: root)
        return facts.before.original(of: root, in: view.resource.root).map { now.intersection(view.grants(on: $0)) }
            ?? now
    }

    /// Returns the roles that apply to a row's record now, before the push and when the edit found it.
    ///
    /// - Parameter root: the record's own row; nil if it does not exist.
    private func held(on root: [Value]?, _ row: EditedRow, _ view: ResourceView) -> GrantSet {
        // The rights on a new record are checked after all its writes.
        if progress.reports[row.index].createsRecord { return .all }
        guard let root else { return .all }
        return grants(on: root, in: view).intersection(progress.reports[row.index].held ?? .all)
    }

    /// Checks that a role of the client allows the edit of a row in its current state.
    ///
    /// - Throws: a refusal, 403.
    func checkRights(_ row: EditedRow, on found: FoundRow, root: [Value]?) throws(PushStop) {
        guard let view = run.view(of: row.index) else { return }
        // The answer must not reveal anything about a missing row.
        guard root != nil || row.edit.isCreation else { return }
        do throws(Problem) {
            _ = try view.needs(of: row.edit, isThere: found.current != nil, among: held(on: root, row, view))
        } catch {
            throw .refused(row.index, error)
        }
    }

    /// Records which roles permit the following write; one must apply to the final record.
    ///
    /// - Parameter first: the position of the row's first outcome.
    /// - Throws: `RunAgain` if an earlier edit of this push moved the deleted row out of its client's permitted
    ///   rows.
    func recordNeededRoles(_ row: EditedRow, _ change: RowChange, root: [Value]?, outcomes first: Int) throws(PushStop)
    {
        if case .delete = change, row.section.kind == .root, let root { try checkInside(before: row, root) }
        guard let view = run.view(of: row.index) else { return }
        let held = held(on: root, row, view)
        switch change {
        case .none: return
        case .delete:
            if row.section.kind != .root { require(view.deleters(ofSection: row.edit.section), among: held, for: row) }
        case .update:
            for outcome in progress.reports[row.index].outcomes.dropFirst(first) where outcome.kind.writes {
                guard let group = outcome.group else { continue }
                require(view.writers(ofGroup: group, in: row.edit.section), among: held, for: row)
            }
        case .insert:
            guard row.section.kind == .root else {
                return require(view.creators(ofSection: row.edit.section), among: held, for: row)
            }
            switch row.edit.action {
            case .create(let new): require(view.creators(with: new.fields), among: held, for: row)
            case .edit(let groups):
                require(view.creators(with: Self.fields(of: groups, in: row.section)), among: held, for: row)
            case .delete: return
            }
            progress.reports[row.index].createsRecord = true
        }
    }

    private func require(_ writers: GrantSet, among held: GrantSet, for row: EditedRow) {
        progress.reports[row.index].needs.insert(writers.intersection(held))
    }

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
            guard index != row.index, progress.reports[index].key == key, run.footprint(other).table == table else {
                continue
            }
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
        let edit = mover(of: report)
        throw .again(
            .without(
                edit,
                Problem(
                    .outsideRows,
                    detail: "The merged row would not be one of the rows that the rules allow this client.",
                    path: plan.push.edits[edit].path, retry: .never)))
    }

    /// Returns the last edit that wrote a column that access conditions test.
    private func mover(of report: Int) -> Int {
        let resource = progress.reports[report].resource
        let columns = Set(resource.access?.columns ?? [])
        let root = resource.root
        return progress.reports.indices.last { index in
            guard progress.reports[index].resource === resource,
                progress.reports[index].key == progress.reports[report].key,
                run.batch.owners[index] == run.batch.owners[report]
            else { return false }
            return progress.reports[index].outcomes.contains { outcome in
                guard outcome.section == 0, outcome.kind.writes else { return false }
                guard let group = outcome.group else { return true }
                return root.groups[group].positions.contains { columns.contains(root.fields[$0].column) }
            }
        } ?? report
    }

    private static func fields(of groups: [GroupEdit], in section: Section) -> [Int] {
        groups.flatMap { section.groups[$0.group].positions }
    }

    /// Returns true if the client has the right to create the record that this edit would restore.
    func mayBringBack(_ row: EditedRow) -> Bool {
        guard row.section.onMissing.value == .restore, case .edit(let groups) = row.edit.action,
            let view = run.view(of: row.index)
        else { return true }
        return !view.creators(with: Self.fields(of: groups, in: row.section)).isEmpty
    }

    /// Returns the change of an edit's own record for access conditions; nil if no conditions test it.
    func conditionStep(of report: Int, to record: ReadRecord?) -> ConditionStep? {
        let resource = progress.reports[report].resource
        guard resource.access?.columns.isEmpty == false else { return nil }
        return ConditionStep(
            before: progress.reports[report].conditions?.bytes, after: record?.conditions(of: resource)?.bytes)
    }

    // MARK: Creating

    /// Returns the columns of a new record whose values come from claims of its client.
    ///
    /// - Returns: nil if a claim is missing or its column cannot store it.
    func claimed(by row: EditedRow) -> [Assignment]? {
        guard row.section.kind == .root, let view = run.view(of: row.index) else { return [] }
        let fields: [Int]
        switch row.edit.action {
        case .create(let new): fields = new.fields
        case .edit(let groups): fields = Self.fields(of: groups, in: row.section)
        case .delete: return []
        }
        guard let role = view.first(of: view.creators(with: fields)) else { return [] }
        return view.assignments(under: role)
    }

    /// Adds the columns that come from claims to those of a new row.
    ///
    /// - Parameter known: the deleted row, if the edit restores it; its values take precedence.
    /// - Throws: a refusal, 403, if a claim is missing or its column cannot store it.
    func completing(_ assignments: [Assignment], of row: EditedRow, known: RawRow?) throws(PushStop) -> [Assignment] {
        guard var claimed = claimed(by: row) else {
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

    /// Returns true if a deleted row was not certainly visible to the client.
    func wasHidden(_ known: LastKnown, of row: EditedRow) -> Bool {
        guard let view = run.view(of: row.index), row.section.kind == .root, !view.seesEveryRow else { return false }
        let root = row.section
        if known.row == nil, known.fields.isEmpty { return false }
        let values = (row.resource.access?.columns ?? []).map { column -> Value? in
            if let whole = known.row?.values.first(where: { $0.column.name == root.columns[column].name }) {
                return whole.value
            }
            return known.fields.first { root.fields[$0.key].column == column }?.value
        }
        let sure = values.compactMap(\.self)
        return sure.count < values.count || view.grants(onConditions: sure).isEmpty
    }
}
