import MergeCore
import RecordStore

/// The writes of decided changes, and their records in the other parts of the run.
extension PushTransaction {
    /// Writes the change of a row.
    ///
    /// - Parameters:
    ///   - found: the row before the change; nil if it did not exist.
    ///   - known: the deleted row, if the edit restores it.
    ///   - first: the position of the row's first outcome.
    ///   - root: the root row before the change; nil if it did not exist.
    ///   - record: the root row for the rows that follow.
    func write(
        _ change: RowChange, of row: EditedRow, found: [Value]?, known: RawRow?, outcomes first: Int,
        root: [Value]?, record: inout RecordRoot
    ) throws(PushStop) {
        let isRoot = row.section.kind == .root
        switch (change, found) {
        case (.none, let found?): checks.recordFound(row, values: found, traces: traces(of: row, outcomes: first))
        case (.none, nil): break
        case (.update(let assignments), let current?):
            let assignments = try stamped(assignments, of: row)
            let refusal = try hiddenReference(assignments, of: row, current: current, root: root)
            try update(assignments, of: row, current: current)
            try refuse(refusal)
            recordWritten(row, values: current, before: found, outcomes: first)
            if isRoot, run.footprint(row.section).mayChangeRecord(assignments) {
                record = .outdated(row.section.key(of: current))
            }
        case (.insert(let assignments), _):
            try checkNewKey(of: row)
            let whole = try stamped(completing(assignments, of: row, known: known), of: row)
            let refusal = try hiddenReference(whole, of: row, current: nil, root: root)
            let key = try insert(whole, as: row, root: root, extras: known)
            try refuse(refusal)
            try recordNew(row, key: key, outcome: first, root: root, record: &record)
        case (.delete, let current?) where isRoot:
            try deleteRecord(row, root: current)
            record = .read(nil)
        case (.delete, let current?): try delete(row, current: current, outcome: first)
        case (.update, nil), (.delete, nil):
            preconditionFailure("Only a row that was found is updated or deleted.")
        }
    }

    // MARK: Insertions

    private func recordNew(
        _ row: EditedRow, key: RecordKey, outcome: Int, root: [Value]?, record: inout RecordRoot
    ) throws(PushStop) {
        let section = row.section
        guard section.kind == .root else {
            if section.kind == .list { progress.reports[row.index].outcomes[outcome].item = .key(key) }
            if let root { checks.recordInserted(row, key: key, root: root) }
            return
        }
        progress.reports[row.index].key = key
        let new = try facts.rows(of: section, withKey: key, includesHidden: true, includesEquated: true, &writer).first
        record = .read(new)
        // A trigger may have changed the key of the row.
        if let new { recordWritten(row, values: new, before: nil, outcomes: outcome) }
    }

    /// Inserts a row.
    ///
    /// - Parameters:
    ///   - root: the root row of the record that the row belongs to.
    ///   - extras: further columns of a restored row, which the rules need not name.
    /// - Returns: the row's key, as far as it is available without another read.
    private func insert(
        _ assignments: [Assignment], as row: EditedRow, root: [Value]?, extras: RawRow? = nil
    ) throws(PushStop) -> RecordKey {
        try checkLink(of: row, to: root)
        if run.batch.isShared { throw .again(.alone) }
        try writer.flush()
        if let hidden = try unhide(row) { return hidden }
        try checkIsWhole(row)
        let (section, edit) = (row.section, row.edit)
        let key = keyColumns(of: row, root: root)
        let unnamed = (extras ?? edit.extras)?.values ?? []
        let made = try numbered(row, key: key) { numbers throws(PushStop) in
            try writer.insert(key + numbers + assignments, extras: unnamed, as: row)
        }
        let known = zip(0..., made.parts).map { Assignment(column: $0, value: $1) }
        try facts.before.recordInserted(
            known + (key + assignments).filter { $0.column >= section.keyCount }, in: section, &writer)
        checks.forget(made.parts, Array(section.columns.prefix(section.keyCount)), of: section.table)
        others.recordInserted(row, key: made, root: root)
        if let temporary = edit.id?.temporary {
            progress.reports[row.index].ids.append(
                IDMapping(temporary: temporary, key: made, section: edit.section))
        }
        return made
    }

    /// Refuses to insert a deleted row again whose private values are lost.
    private func checkIsWhole(_ row: EditedRow) throws(PushStop) {
        guard let lost = row.edit.extras?.lost, !lost.isEmpty else { return }
        throw .refused(
            row.index,
            Problem(
                .private,
                detail: "The row was deleted again by another program, and the values of "
                    + "\(lost.map { "“\($0)”" }.joined(separator: ", ")) are not kept, because the rules call them private.",
                path: row.edit.path, retry: .never, fields: lost))
    }

    /// Returns the key columns of a new row with their values, and its links to its record.
    private func keyColumns(of row: EditedRow, root: [Value]?) -> [Assignment] {
        var key = (row.edit.id?.parts ?? []).enumerated().compactMap { column, part in
            writer.keys.value(of: part).map { Assignment(column: column, value: $0) }
        }
        for link in row.section.parent where !key.contains(where: { $0.column == link.column }) {
            if let root { key.append(Assignment(column: link.column, value: root[link.rootColumn])) }
        }
        return key
    }

    /// Refuses an item or singleton if its record has NULL in the column that links them.
    private func checkLink(of row: EditedRow, to root: [Value]?) throws(PushStop) {
        guard let root, let link = row.section.parent.first(where: { root[$0.rootColumn].isNull }) else { return }
        let record = row.resource.root
        let fields = (record.fields + record.readOnly).filter { $0.column == link.rootColumn }.map(\.name)
        let name = fields.first ?? record.columns[link.rootColumn].name
        throw .refused(
            row.index,
            Problem(
                .notNull,
                detail:
                    "Rows of “\(row.section.name)” refer to their record by “\(name)”, and the record has no value there.",
                path: row.edit.path, retry: .never, fields: fields))
    }

    /// Reverses a soft deletion and keeps later changes of other programs.
    ///
    /// - Returns: the row's key; nil if no soft deletion is to be reversed.
    private func unhide(_ row: EditedRow) throws(PushStop) -> RecordKey? {
        let section = row.section
        guard let set = section.softDelete?.value, let deleted = row.edit.extras, let key = row.edit.id?.key,
            let hidden = try facts.rows(of: section, withKey: key, includesHidden: true, &writer).first
        else { return nil }
        let values = deleted.values.filter { value in set.contains { $0.column == value.column.name } }
        try others.note(hidden, in: section, writing: [], by: row.index, facts.before)
        try facts.before.recordReferred(hidden, in: section, &writer)
        try writer.unhide(
            hidden, setting: values, stamps: try stamps(of: section, by: row), hiding: set, of: row)
        return key
    }

    // MARK: Updates

    /// Updates a row, at once or later in a common statement.
    func update(_ assignments: [Assignment], of row: EditedRow, current: [Value]) throws(PushStop) {
        let section = row.section
        try others.note(current, in: section, writing: assignments, by: row.index, facts.before)
        let renaming = try facts.before.note(
            current, in: section, writing: assignments, isFollowed: checks.followsRows, &writer)
        if run.footprint(section).writesReferenced(assignments) {
            try recordCascades(of: assignments, row, current: current)
        }
        if run.footprint(section).isCheckedElsewhere {
            let names = try facts.before.keyNames(of: current, in: section, &writer)
            checks.recordColumns(assignments, of: row, names: names)
        }
        if let renaming { checks.rename(renaming) }
        try writer.update(assignments, of: row, current: current)
    }

    private func recordCascades(
        of assignments: [Assignment], _ row: EditedRow, current: [Value]
    ) throws(PushStop) {
        let section = row.section
        let after = current.setting(assignments)
        let steps = try facts.cascades(updating: current, to: after, writing: assignments, of: section, &writer)
        if steps.isEmpty { return }
        try note(steps, of: row)
        let written = Set(assignments.map(\.column))
        let item = section.kind == .list ? RowLabel.key(section.key(of: current)) : nil
        let place = progress.reports[row.index].outcomes.lastIndex { outcome in
            guard outcome.section == row.edit.section, outcome.item == item, let group = outcome.group else {
                return false
            }
            return section.fields[section.groups[group].fields].contains { field in
                written.contains(field.column) && current[field.column] != after[field.column]
            }
        }
        if let place { progress.reports[row.index].outcomes[place].cascades += steps.map(\.cascade) }
    }

    /// Records rows that the database changes along with a write.
    private func note(_ steps: [CascadeFinder.Step], of row: EditedRow) throws(PushStop) {
        try others.note(steps, by: row.index, facts.before)
        for renaming in try facts.before.note(steps, isFollowed: checks.followsRows, &writer) {
            checks.rename(renaming)
        }
    }

    // MARK: Deletions

    /// Deletes a row and adds the cascades of the database to its outcome.
    ///
    /// - Parameters:
    ///   - current: the row before the deletion.
    ///   - section: the row's section, if it is not that of the edit because the whole record is deleted.
    ///   - outcome: the position of the row's outcome.
    ///   - mostRows: the number of rows with this address: one, unless the section has no key.
    private func delete(
        _ row: EditedRow, current: [Value], in section: Int? = nil, outcome: Int, mostRows: Int = 1
    ) throws(PushStop) {
        if run.batch.isShared { throw .again(.alone) }
        try writer.flush()
        let position = section ?? row.edit.section
        let section = row.resource.sections[position]
        let address = section.address(of: current)
        let names = try facts.before.keyNames(of: current, in: section, &writer)
        writer.recordDeletion(of: address, in: section, names: names)
        checks.remove(address, SectionID(resource: row.resource.name, section: position))
        try others.note(current, in: section, writing: nil, by: row.index, facts.before)
        try facts.before.recordReferred(current, in: section, &writer)
        if run.journal != nil, let whole = try facts.wholeRow(current, section) {
            progress.reports[row.index].outcomes[outcome].wholeRow = whole
            facts.before.recordDeleted(whole, in: section)
        }
        if section.softDelete == nil {
            let steps = try facts.cascades(deleting: current, of: section)
            try note(steps, of: row)
            progress.reports[row.index].outcomes[outcome].cascades = steps.map(\.cascade)
            checks.forget(current, section.columns, of: section.table)
            for cascade in steps.map(\.cascade) where cascade.effect == .delete {
                for row in cascade.rows { checks.forget(row, cascade.columns, of: cascade.table) }
            }
        }
        let stamps = section.softDelete == nil ? [] : try stamps(of: section, by: row)
        try writer.delete(current, in: section, stamps: stamps, mostRows: mostRows, of: row)
    }

    /// The last section comes first, because it may refer to earlier sections.
    private func deleteRecord(_ row: EditedRow, root: [Value]) throws(PushStop) {
        if run.batch.isShared { throw .again(.alone) }
        let resource = row.resource
        let own = progress.reports[row.index].outcomes.count - 1
        progress.reports[row.index].outcomes[own].deletedRow = root
        // A soft deletion changes only the root row.
        let isSoft = resource.root.softDelete != nil
        for index in resource.sections.indices.dropFirst().reversed() where !isSoft {
            let section = resource.sections[index]
            let parts = try facts.rows(of: section, in: root, &writer)
            if section.keyCount == 0, !parts.isEmpty { try checkUnkeyed(parts, of: section, in: root, row) }
            for part in parts {
                let outcome = progress.reports[row.index].recordDeletion(of: part, in: index)
                try delete(
                    row, current: part, in: index, outcome: outcome,
                    mostRows: section.keyCount == 0 ? parts.count : 1)
            }
        }
        try delete(row, current: root, in: 0, outcome: own)
    }

    /// Checks that a deletion of rows without a key deletes only rows of this record.
    ///
    /// The database may equate their link with that of hidden rows or of another record.
    ///
    /// - Throws: a refusal if other rows would be deleted too.
    private func checkUnkeyed(
        _ parts: [[Value]], of section: Section, in root: [Value], _ row: EditedRow
    ) throws(PushStop) {
        let equated = try facts.rows(
            of: section, where: section.parent.map(\.column), are: section.link(to: root), includesEquated: true,
            &writer)
        if equated.count == parts.count { return }
        throw .refused(
            row.index,
            Problem(
                .ambiguousIdentity,
                detail:
                    "Rows of “\(section.name)” have no key, and deleting this record's rows would delete other rows as well.",
                path: row.edit.path, retry: .never))
    }
}
