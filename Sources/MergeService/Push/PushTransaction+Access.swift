import MergeCore
import RecordStore

/// An edit that leaves a row which is none of its client's.
struct OutsideRows: Error {
    /// The position of the edit in the push.
    let edit: Int
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
        if let root, journal != nil, reports[report].conditions == nil, !reports[report].createsRecord {
            reports[report].conditions = ConditionTuple(root, of: reports[report].resource)
        }
        guard let view = view(of: report), let root else { return root }
        let held = view.grants(on: root)
        if held.isEmpty { return nil }
        if reports[report].held == nil { reports[report].held = held }
        return root
    }

    /// Returns the edit of a row without what its client may not read: in a deletion that is not compared.
    func readable(_ row: EditedRow, root: [Value]?) -> EditedRow {
        guard let view = view(of: row.index), case .delete(let groups) = row.edit.action, let root else { return row }
        let sight = view.sight(view.grants(on: root))
        let known = groups.filter { sight.reads(group: row.section.groups[$0.group], in: row.edit.section) }
        if known.count == groups.count { return row }
        return EditedRow(
            edit: RowEdit(
                section: row.edit.section, id: row.edit.id, action: .delete(known), path: row.edit.path,
                extras: row.edit.extras), step: row.step)
    }

    /// The roles that hold on a row's record as it stands.
    ///
    /// - Parameter root: the record's own row; nil where there is none.
    private func held(on root: [Value]?, _ row: EditedRow, _ view: ResourceView) -> GrantSet {
        // Whether a record that the edit creates is the client's shows once it is whole.
        if reports[row.index].createsRecord { return .all }
        return root.map { view.grants(on: $0) } ?? .all
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
    func noteNeeds(_ row: EditedRow, _ change: RowChange, root: [Value]?, outcomes first: Int) {
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
                for edit in groups { note(view.writers(ofGroup: edit.group, in: 0), held, row) }
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
    func checkInside(_ records: [Record?]) throws {
        if views.isEmpty { return }
        for index in reports.indices where !reports[index].needs.isEmpty && reports[index].isMerged {
            guard let view = view(of: index), !excluded.contains(batch.owners[index]),
                case .one(let root?)? = records[index]?.sections.first
            else { continue }
            let after = view.grants(on: root)
            if reports[index].needs.allSatisfy({ !$0.intersection(after).isEmpty }) { continue }
            if batch.isShared { throw NotShareable() }
            throw OutsideRows(edit: index)
        }
    }

    /// Returns the step that conditions of access see in an edit's own record; nil where they do not look at it.
    ///
    /// - Parameter record: as it stands now.
    func conditionStep(of report: Int, to record: Record?) -> ConditionStep? {
        let resource = reports[report].resource
        guard resource.access?.columns.isEmpty == false else { return nil }
        var after: [UInt8]?
        if case .one(let root?)? = record?.sections.first { after = ConditionTuple(root, of: resource)?.bytes }
        return ConditionStep(before: reports[report].conditions?.bytes, after: after)
    }

    // MARK: Creating

    /// Returns the columns that a new record takes from the claims of its client.
    ///
    /// - Returns: nil where a claim is missing or cannot be held.
    func claimed(by row: EditedRow) -> [Assignment]? {
        guard row.section.kind == .root, let view = view(of: row.index), case .create(let new) = row.edit.action,
            let role = view.first(of: view.creators(with: new.fields))
        else { return [] }
        return view.assignments(under: role)
    }

    /// Returns what is to be inserted, with the columns that come from claims.
    ///
    /// - Throws: `Refusal`, 403, where a claim is missing or cannot be held.
    func completing(_ assignments: [Assignment], of row: EditedRow) throws -> [Assignment] {
        guard let claimed = claimed(by: row) else {
            throw Refusal(
                problem: Problem(
                    .outsideRows, detail: "The rules take a column from a claim that the token does not make.",
                    path: row.edit.path, retry: false))
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

    // MARK: References

    /// Checks that no column comes to refer to a row that does not exist for the client.
    ///
    /// - Parameter current: the row as it stands; nil for one that is inserted.
    /// - Throws: `Refusal`, as where the database finds no such row.
    func checkReferences(_ assignments: [Assignment], of row: EditedRow, current: [Value]?) throws {
        guard let viewer = batch.items[batch.owners[row.index]].request.access?.viewer,
            let keys = active.schema.tables[row.section.table]?.foreignKeys, !keys.isEmpty
        else { return }
        let section = row.section
        for field in section.fields {
            guard let reference = field.reference, let target = active.catalog[reference.resource],
                let view = viewer.view(of: target), !view.seesEveryRow || !view.seesEverything,
                let place = target.section(named: reference.section),
                assignments.contains(where: { $0.column == field.column && !$0.value.isNull }),
                let key = keys.first(where: { key in
                    key.target == target.sections[place].table
                        && key.columns.contains { $0.lowercased() == section.columns[field.column].name.lowercased() }
                })
            else { continue }
            let values = key.columns.compactMap { name -> Value? in
                guard let column = section.columns.firstIndex(where: { $0.name.lowercased() == name.lowercased() })
                else { return nil }
                return assignments.first { $0.column == column }?.value ?? current?[column]
            }
            // A key of which a part is NULL refers to nothing.
            if values.count < key.columns.count || values.contains(.null) { continue }
            if try !isHidden(values, of: key.targetColumns, in: target, section: place, from: view) { continue }
            throw try explainer(of: row).refusal(
                dialect.violation(of: key), assignments: assignments, current: current)
        }
    }

    /// Returns true for a row that is there and does not exist for a client.
    private func isHidden(
        _ values: [Value], of names: [String], in resource: Resource, section: Int, from view: ResourceView
    ) throws -> Bool {
        let shape = resource.sections[section]
        let columns = names.compactMap { name in
            shape.columns.firstIndex { $0.name.lowercased() == name.lowercased() }
        }
        guard columns.count == names.count else { return view.isClosed }
        if !batch.isShared, updates.mayChange(active.footprints[shape].table) { try flush() }
        let rows = try reader.rows(of: shape, where: columns, in: [values], locking: false)
        guard let row = rows.first else { return false }
        if section == 0 { return !view.shows(row) }
        let root = resource.root
        let links = shape.parent
        let owners = try reader.rows(
            of: root, where: links.map(\.rootColumn), in: [links.map { row[$0.column] }], locking: false)
        guard let owner = owners.first else { return true }
        return !view.sight(view.grants(on: owner)).sections[section].isGiven
    }
}
