import MergeCore
import RecordStore

/// Existing rows that a client names otherwise.
extension PushTransaction {
    /// Returns the row with the natural key of a creation; the creation's temporary id then refers to it.
    ///
    /// - Returns: nil if the section has no natural key, the client did not send all of it, or no row has it.
    /// - Throws: a refusal if the row is hidden from the client, or several rows have the key.
    func identified(_ wanted: EditedRow, _ action: RowAction, root: [Value]?) throws(PushStop) -> [Value]? {
        let (section, edit) = (wanted.section, wanted.edit)
        guard let identity = section.identity?.value, case .create(let new) = action else { return nil }
        var columns: [Int] = []
        var tuple: [Value] = []
        for column in identity + section.parent.map(\.column) where !columns.contains(column) {
            guard let value = value(of: column, in: wanted, new: new, root: root), !value.isNull else { return nil }
            columns.append(column)
            tuple.append(value)
        }
        let rows = try facts.rows(of: section, where: columns, are: tuple, &writer)
        // Hidden rows count only if the client may see no row with this key.
        let view = section.kind == .root ? run.view(of: wanted.index) : nil
        let seen = view.map { view in rows.filter { view.shows($0) } } ?? rows
        guard let row = seen.first ?? rows.first else { return nil }
        let fields = section.fields.filter { identity.contains($0.column) }.map(\.name)
        if seen.count > 1 { throw .refused(wanted.index, Self.ambiguous(fields, edit)) }
        let isForeign = section.kind == .root && shown(row, to: wanted.index) == nil
        if try facts.isHidden(row, of: section) || isForeign {
            throw .refused(wanted.index, hidden(fields, identity, of: wanted))
        }
        if let temporary = edit.id?.temporary {
            writer.name(temporary, section.key(of: row))
            progress.reports[wanted.index].ids.append(
                IDMapping(temporary: temporary, key: section.key(of: row), section: edit.section))
        }
        return row
    }

    /// Returns a column's value of the new row, if the client or its record determines it.
    private func value(
        of column: Int, in row: EditedRow, new: FieldValues, root: [Value]?
    ) -> Value? {
        let section = row.section
        if let claimed = claimed(by: row)?.first(where: { $0.column == column }) { return claimed.value }
        if let link = section.parent.first(where: { $0.column == column }) { return root?[link.rootColumn] }
        if column < section.keyCount {
            guard let id = row.edit.id, id.parts.indices.contains(column) else { return nil }
            return writer.value(of: id.parts[column])
        }
        return zip(new.fields, new.values).first { section.fields[$0.0].column == column }?.1
    }

    private static func ambiguous(_ fields: [String], _ edit: RowEdit) -> Problem {
        Problem(
            .ambiguousIdentity,
            detail: "The rules identify a new row by these fields, and several rows have these values.",
            path: edit.path,
            retry: .never, fields: fields)
    }

    private func hidden(_ fields: [String], _ identity: [Int], of row: EditedRow) -> Problem {
        let section = row.section
        let names = Set((identity + section.parent.map(\.column)).map { section.columns[$0].name })
        let index = run.active.schema.tables[section.table]?.uniqueIndexes.first { Set($0.columns).isSubset(of: names) }
        var problem = Problem(
            .unique, about: .otherRow, detail: "A row that is hidden from clients has these values.",
            path: row.edit.path, retry: .never, fields: fields)
        problem.index = index?.name ?? "identity"
        return problem
    }
}
