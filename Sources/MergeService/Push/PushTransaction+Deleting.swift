import MergeCore
import RecordStore

extension PushTransaction {
    /// Deletes a row and adds the cascades of the database to its outcome.
    ///
    /// - Parameters:
    ///   - current: the row before the deletion.
    ///   - section: the row's section, if it is not that of the edit because the whole record is deleted.
    ///   - outcome: the position of the row's outcome.
    ///   - mostRows: the number of rows with this address: one, unless the section has no key.
    func delete(
        _ row: EditedRow, current: [Value], in section: Int? = nil, outcome: Int, mostRows: Int = 1
    ) throws {
        if batch.isShared { throw NotShareable() }
        try flush()
        let position = section ?? row.edit.section
        let section = row.resource.sections[position]
        let address = address(of: current, in: section)
        let footprint = active.footprints[section]
        let reference = footprint.reference(to: RecordKey(address.map(\.value)))
        changes.note(reference, section.softDelete == nil ? footprint.deletionReach : footprint.reach)
        written.remove(address, SectionID(resource: row.resource.name, section: position))
        deleted.insert(reference)
        try noteShown(row, in: section, current: current, writing: nil)
        if journal != nil { reports[row.index].outcomes[outcome].wholeRow = try wholeRow(current, section) }
        let sql = SectionSQL.of(section, dialect)
        if let set = section.softDelete?.value {
            try write(sql.softDelete(set, key: address, mostRows: mostRows), of: row, current: current)
            let columns = set.compactMap { assignment in section.columns.firstIndex { $0.name == assignment.column } }
            let before = columns.map { Assignment(column: $0, value: current[$0]) }
            if !row.resource.isAtomic { inverses.append(sql.update(before, key: address)) }
            return
        }
        if !active.schema.dependents(ofDeletionFrom: section.table).isEmpty {
            let steps = try cascadeFinder.steps(deleting: current, section.columns, from: section.table)
            try noteShown(steps, report: row.index)
            try noteOriginals(steps)
            reports[row.index].outcomes[outcome].cascades = steps.map(\.cascade)
        }
        try write(sql.delete(key: address, mostRows: mostRows), of: row, current: current)
        if !row.resource.isAtomic {
            let whole = zip(0..., zip(section.columns, current)).filter { $1.0.type != .wellKnownText }
            inverses.append(sql.insert(whole.map { Assignment(column: $0, value: $1.1) }))
        }
    }

    var cascadeFinder: CascadeFinder {
        CascadeFinder(schema: active.schema, kept: active.keptColumns, session: session, dialect: dialect)
    }

    func noteCascades(of assignments: [Assignment], _ row: EditedRow, current: [Value]) throws {
        let section = row.section
        let columns = Set(assignments.map { section.columns[$0.column].name })
        if active.schema.dependents(ofChangeTo: columns, in: section.table).isEmpty { return }
        if batch.isShared { throw NotShareable() }
        // The search must find the values that earlier edits wrote.
        try flush()
        let after = current.setting(assignments)
        let steps = try cascadeFinder.steps(updating: current, to: after, section.columns, in: section.table)
        if steps.isEmpty { return }
        try noteShown(steps, report: row.index)
        try noteOriginals(steps)
        let written = Set(assignments.map(\.column))
        let item = section.kind == .list ? RowLabel.key(section.key(of: current)) : nil
        let place = reports[row.index].outcomes.lastIndex { outcome in
            guard outcome.section == row.edit.section, outcome.item == item, let group = outcome.group else {
                return false
            }
            return section.fields[section.groups[group].fields].contains { field in
                written.contains(field.column) && current[field.column] != after[field.column]
            }
        }
        if let place { reports[row.index].outcomes[place].cascades += steps.map(\.cascade) }
    }

    /// The last section comes first, because it may refer to earlier sections.
    func deleteRecord(_ row: EditedRow, root: [Value]) throws {
        if batch.isShared { throw NotShareable() }
        try flush()
        let resource = row.resource
        let own = reports[row.index].outcomes.count - 1
        reports[row.index].outcomes[own].deletedRow = root
        // A soft deletion changes only the root row.
        let isSoft = resource.root.softDelete != nil
        for index in resource.sections.indices.dropFirst().reversed() where !isSoft {
            let section = resource.sections[index]
            let parts = try reader.rows(of: section, in: root, locking: true)
            if section.keyCount == 0, !parts.isEmpty { try checkUnkeyed(parts, of: section, in: root, row) }
            for part in parts {
                var outcome = Outcome(
                    .deleted, section: index, item: section.kind == .list ? section.key(of: part) : nil,
                    rule: section.softDelete?.rule ?? .default)
                outcome.deletedRow = part
                reports[row.index].outcomes.append(outcome)
                try delete(
                    row, current: part, in: index, outcome: reports[row.index].outcomes.count - 1,
                    mostRows: section.keyCount == 0 ? parts.count : 1)
            }
        }
        try delete(row, current: root, in: 0, outcome: own)
    }

    /// Checks that a deletion of rows without a key deletes only rows of this record.
    ///
    /// The database may equate their link with that of hidden rows or of another record.
    ///
    /// - Throws: `Refusal` if other rows would be deleted too.
    private func checkUnkeyed(
        _ parts: [[Value]], of section: Section, in root: [Value], _ row: EditedRow
    ) throws {
        let equated = try reader.rows(
            of: section, where: section.parent.map(\.column), in: [section.link(to: root)], locking: true,
            includesHidden: true, includesEquated: true)
        if equated.count == parts.count { return }
        throw Refusal(
            problem: Problem(
                .ambiguousIdentity,
                detail:
                    "Rows of “\(section.name)” have no key, and deleting this record's rows would delete other rows as well.",
                path: row.edit.path, retry: .never))
    }
}
