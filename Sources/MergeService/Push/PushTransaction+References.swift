import MergeCore
import RecordStore

/// References to rows that are hidden from a client, which the database would accept.
extension PushTransaction {
    /// Returns the refusal of a row that refers to a row hidden from its client.
    ///
    /// The caller throws it after the write. So errors of the database come first, as for a missing row.
    ///
    /// - Parameters:
    ///   - current: the current row; nil for an insertion.
    ///   - root: the row of its record; nil if the row is the root itself.
    func hiddenReference(
        _ assignments: [Assignment], of row: EditedRow, current: [Value]?, root: [Value]?
    ) throws -> Refusal? {
        guard let viewer = batch.items[batch.owners[row.index]].request.access?.viewer,
            let keys = active.schema.tables[row.section.table]?.foreignKeys, !keys.isEmpty
        else { return nil }
        for key in keys {
            let columns = key.columns.compactMap { name in
                row.section.columns.firstIndex { $0.name.lowercased() == name.lowercased() }
            }
            guard columns.count == key.columns.count,
                current == nil || assignments.contains(where: { columns.contains($0.column) })
            else { continue }
            let values = columns.compactMap { column in
                assignments.first { $0.column == column }?.value ?? current?[column]
                    ?? (current == nil ? linked(column, of: row, root: root) : nil)
            }
            // A foreign key with a NULL part refers to nothing.
            if values.count < columns.count || values.contains(.null) { continue }
            if try !isHidden(values, by: key, from: viewer) { continue }
            if batch.isShared { throw NotShareable() }
            // The key of a new row and its link to the record may be foreign keys too.
            let whole =
                assignments
                + zip(columns, values).filter { pair in !assignments.contains { $0.column == pair.0 } }
                .map { Assignment(column: $0, value: $1) }
            return try explainer(of: row).refusal(dialect.violation(of: key), assignments: whole, current: current)
        }
        return nil
    }

    func refuse(_ refusal: Refusal?) throws {
        guard let refusal else { return }
        try flush()
        throw refusal
    }

    /// Returns a column's value that the key or the record of a new row determines.
    private func linked(_ column: Int, of row: EditedRow, root: [Value]?) -> Value? {
        let section = row.section
        if let link = section.parent.first(where: { $0.column == column }) { return root?[link.rootColumn] }
        guard column < section.keyCount, let id = row.edit.id, id.parts.indices.contains(column) else { return nil }
        switch id.parts[column] {
        case .value(let value): return value
        case .temporary(let temporary): return reference(temporary)
        case .generated: return nil
        }
    }

    /// True if the row exists, the client's resources contain its table, and none shows it to the client.
    private func isHidden(_ values: [Value], by key: ForeignKey, from viewer: Viewer) throws -> Bool {
        let shown = active.views[key.target]
        let views = shown.map { ($0, viewer.view(of: $0.resource)) }
        if shown.isEmpty || views.contains(where: { $0.1 == nil }) { return false }
        guard let table = active.schema.tables[key.target] else { return false }
        let columns = key.targetColumns.compactMap { name in
            table.restorableColumns.first { $0.name.lowercased() == name.lowercased() }
        }
        guard columns.count == values.count else { return false }
        if !batch.isShared { try flush() }
        var isThere = false
        for (place, view) in views {
            guard let view else { return false }
            let condition = zip(columns, values).map { RawValue(column: $0, value: $1) }
            let found = try session.query(
                RawSQL(dialect).select(
                    place.section.columns, from: key.target, where: condition, locking: session.mustLockReads))
            guard let row = found.first else { continue }
            isThere = true
            if try shows(row, of: place.section, in: place.resource, view) { return false }
        }
        return isThere
    }

    private func shows(
        _ row: [Value], of section: Section, in resource: Resource, _ view: ResourceView
    ) throws -> Bool {
        if section.kind == .root { return view.shows(row) }
        guard let place = resource.sections.firstIndex(where: { $0 === section }) else { return false }
        let owners = try reader.rows(
            of: resource.root, where: section.parent.map(\.rootColumn), in: [section.parent.map { row[$0.column] }],
            locking: false, includesHidden: true)
        return owners.contains { view.sight(view.grants(on: $0)).sections[place].isGiven }
    }
}
