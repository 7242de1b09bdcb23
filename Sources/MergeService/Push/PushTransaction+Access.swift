import MergeCore
import RecordStore

/// An edit that leaves a row which is none of its client's.
struct OutsideRows: Error {
    /// The position of the edit in the push.
    let edit: Int

    /// The problem of the edit at this position.
    func problem(_ edit: Edit) -> Problem {
        Problem(
            .outsideRows, detail: "The rules show this client only some rows, and the row as merged is none of them.",
            path: edit.path, retry: .never)
    }
}

/// What clients may see and write, row by row.
extension PushTransaction {
    /// Returns what the client of an edit may do with its resource; nil where it may do everything.
    func view(of report: Int) -> ResourceView? { views.isEmpty ? nil : views[report] }

    /// Makes the views of all edits; empty where every client may do everything.
    static func views(of batch: PushBatch) -> [ResourceView?] {
        guard batch.items.contains(where: { $0.request.access != nil }) else { return [] }
        return batch.plan.push.edits.enumerated().map { index, edit in
            batch.items[batch.owners[index]].request.access?.viewer.view(of: edit.resource)
        }
    }

    /// Returns a row of the root as the client of an edit knows it: nil where it does not exist for it.
    func shown(_ root: [Value]?, to report: Int) -> [Value]? {
        let resource = reports[report].resource
        // Only the states at commits count, so what an earlier edit of the push made of the record does not.
        if let root, isKept, reports[report].conditions == nil, !reports[report].createsRecord,
            !isNew(root, in: resource.root)
        {
            reports[report].conditions = ConditionTuple(original(of: root, in: resource.root) ?? root, of: resource)
        }
        guard let view = view(of: report), let root else { return root }
        reports[report].isHidden = !view.shows(root)
        if reports[report].isHidden { return nil }
        if reports[report].held == nil { reports[report].held = grants(on: root, in: view) }
        return root
    }

    /// Returns the edit of a row without what its client may not read: in a deletion that is not compared.
    func readable(_ row: EditedRow, root: [Value]?) -> EditedRow {
        guard let view = view(of: row.index), case .delete(let groups) = row.edit.action, let root else { return row }
        let sight = view.sight(grants(on: root, in: view))
        let known = groups.filter { sight.reads(group: row.section.groups[$0.group], in: row.edit.section) }
        if known.count == groups.count { return row }
        return EditedRow(
            edit: RowEdit(
                section: row.edit.section, id: row.edit.id, action: .delete(known), path: row.edit.path,
                extras: row.edit.extras), step: row.step)
    }

    /// Returns the roles that hold on a root row as it is now and as it was before the push.
    ///
    /// A push can be refused or be a preview. So a right that an earlier edit of the same push would bring does not count:
    /// the answer would show what the client cannot read.
    private func grants(on root: [Value], in view: ResourceView) -> GrantSet {
        let now = view.grants(on: root)
        return original(of: root, in: view.resource.root).map { now.intersection(view.grants(on: $0)) } ?? now
    }

    /// Returns the roles that have held on a row's record since before the push and since the edit found it.
    ///
    /// - Parameter root: the record's own row; nil if there is none.
    private func held(on root: [Value]?, _ row: EditedRow, _ view: ResourceView) -> GrantSet {
        // Whether a record that the edit creates is the client's shows once it is whole.
        if reports[row.index].createsRecord { return .all }
        guard let root else { return .all }
        return grants(on: root, in: view).intersection(reports[row.index].held ?? .all)
    }

    /// Checks that a role of the client lets it write what an edit names of a row as it stands.
    ///
    /// - Throws: `Refusal`, 403.
    func checkRights(_ row: EditedRow, on found: FoundRow, root: [Value]?) throws {
        guard let view = view(of: row.index) else { return }
        // Of a row that is not there nothing is told.
        guard root != nil || row.edit.isCreation else { return }
        do throws(Problem) {
            _ = try view.needs(of: row.edit, isThere: found.current != nil, among: held(on: root, row, view))
        } catch {
            throw Refusal(problem: error)
        }
    }

    /// Notes the roles of which one has to hold on the record in the end, for what is about to be written.
    ///
    /// - Parameter first: the position of the row's first outcome.
    /// - Throws: `OutsideRows` where an earlier edit left the row that this one deletes to nobody who may write so.
    func noteNeeds(_ row: EditedRow, _ change: RowChange, root: [Value]?, outcomes first: Int) throws {
        if case .delete = change, row.section.kind == .root, let root { try checkInside(before: row, root) }
        guard let view = view(of: row.index) else { return }
        let held = held(on: root, row, view)
        switch change {
        case .none: return
        case .delete:
            if row.section.kind != .root { note(view.writers(ofSection: row.edit.section), held, row) }
        case .update:
            for outcome in reports[row.index].outcomes.dropFirst(first) where outcome.kind.writes {
                guard let group = outcome.group else { continue }
                note(view.writers(ofGroup: group, in: row.edit.section), held, row)
            }
        case .insert:
            guard row.section.kind == .root else { return note(view.writers(ofSection: row.edit.section), held, row) }
            switch row.edit.action {
            case .create(let new): note(view.creators(with: new.fields), held, row)
            case .edit(let groups):
                note(view.creators(with: Self.fields(of: groups, in: row.section)), held, row)
            case .delete: return
            }
            reports[row.index].createsRecord = true
        }
    }

    private func note(_ writers: GrantSet, _ held: GrantSet, _ row: EditedRow) {
        reports[row.index].needs.insert(writers.intersection(held))
    }

    /// Checks that every row that was written is the client's still, under a role that lets it write so.
    ///
    /// - Parameter records: parallel to the reports.
    /// - Throws: `OutsideRows`; `NotShareable` where others share the transaction.
    func checkInside(_ records: [ReadRecord?]) throws {
        if views.isEmpty { return }
        for index in reports.indices where !reports[index].needs.isEmpty && reports[index].isMerged {
            if excluded.contains(batch.owners[index]) { continue }
            if case .one(let root?)? = records[index]?.readable?.sections.first {
                try checkInside(index, root)
            } else if let root = try rowOfRecord(index) {
                // It does not exist for clients any more, and has to be the client's all the same.
                try checkInside(index, root)
            }
        }
    }

    /// Checks what earlier edits wrote to a row that is about to be deleted: it is judged as they left it.
    ///
    /// - Parameter root: the row as it stands.
    private func checkInside(before row: EditedRow, _ root: [Value]) throws {
        if views.isEmpty { return }
        let key = row.section.key(of: root)
        let table = active.footprints[row.section].table
        for index in reports.indices where !reports[index].needs.isEmpty && reports[index].isMerged {
            let other = reports[index].resource.root
            guard index != row.index, reports[index].key == key, active.footprints[other].table == table else {
                continue
            }
            if reports[index].resource === row.resource {
                try checkInside(index, root)
            } else {
                if batch.isShared { throw NotShareable() }
                try flush()
                if let root = try rowOfRecord(index) { try checkInside(index, root) }
            }
        }
    }

    /// The root row of an edit's record, also where it does not exist for clients; nil where it is gone.
    private func rowOfRecord(_ report: Int) throws -> [Value]? {
        guard let key = reports[report].key else { return nil }
        let root = reports[report].resource.root
        return try reader.rows(
            of: root, where: Array(0..<root.keyCount), in: [key.parts], locking: false, includesHidden: true
        ).first
    }

    private func checkInside(_ report: Int, _ root: [Value]) throws {
        guard let view = view(of: report) else { return }
        let after = view.grants(on: root)
        if reports[report].needs.allSatisfy({ !$0.intersection(after).isEmpty }) { return }
        if batch.isShared { throw NotShareable() }
        throw OutsideRows(edit: mover(of: report))
    }

    /// The edit that led a record out of what its client may write: the last that wrote what conditions look at.
    private func mover(of report: Int) -> Int {
        let resource = reports[report].resource
        let columns = Set(resource.access?.columns ?? [])
        let root = resource.root
        return reports.indices.last { index in
            guard reports[index].resource === resource, reports[index].key == reports[report].key,
                batch.owners[index] == batch.owners[report]
            else { return false }
            return reports[index].outcomes.contains { outcome in
                guard outcome.section == 0, outcome.kind.writes else { return false }
                guard let group = outcome.group else { return true }
                return root.groups[group].positions.contains { columns.contains(root.fields[$0].column) }
            }
        } ?? report
    }

    private static func fields(of groups: [GroupEdit], in section: Section) -> [Int] {
        groups.flatMap { section.groups[$0.group].positions }
    }

    /// Returns true where an edit of a record that is gone may bring it back, which creates it.
    func mayBringBack(_ row: EditedRow) -> Bool {
        guard row.section.onMissing.value == .restore, case .edit(let groups) = row.edit.action,
            let view = view(of: row.index)
        else { return true }
        return !view.creators(with: Self.fields(of: groups, in: row.section)).isEmpty
    }

    /// Returns the step that conditions of access see in an edit's own record; nil where they do not look at it.
    ///
    /// - Parameter record: as it stands now.
    func conditionStep(of report: Int, to record: ReadRecord?) -> ConditionStep? {
        let resource = reports[report].resource
        guard resource.access?.columns.isEmpty == false else { return nil }
        return ConditionStep(
            before: reports[report].conditions?.bytes, after: record?.conditions(of: resource)?.bytes)
    }

    // MARK: Creating

    /// Returns the columns that a new record takes from the claims of its client.
    ///
    /// - Returns: nil where a claim is missing or cannot be held.
    func claimed(by row: EditedRow) -> [Assignment]? {
        guard row.section.kind == .root, let view = view(of: row.index) else { return [] }
        let fields: [Int]
        switch row.edit.action {
        case .create(let new): fields = new.fields
        case .edit(let groups): fields = Self.fields(of: groups, in: row.section)
        case .delete: return []
        }
        guard let role = view.first(of: view.creators(with: fields)) else { return [] }
        return view.assignments(under: role)
    }

    /// Returns what is to be inserted, with the columns that come from claims.
    ///
    /// - Parameter known: the row as it was deleted, where it comes back; its columns come back with it.
    /// - Throws: `Refusal`, 403, where a claim is missing or cannot be held.
    func completing(_ assignments: [Assignment], of row: EditedRow, known: RawRow?) throws -> [Assignment] {
        guard var claimed = claimed(by: row) else {
            throw Refusal(
                problem: Problem(
                    .outsideRows, detail: "The rules take a column from a claim that the token does not make.",
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

    /// Returns true where a row that is gone is not known to have been one of the client's.
    func wasHidden(_ known: LastKnown, of row: EditedRow) -> Bool {
        guard let view = view(of: row.index), row.section.kind == .root, !view.seesEveryRow else { return false }
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
