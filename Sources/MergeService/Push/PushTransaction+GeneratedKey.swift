import MergeCore
import RecordStore

extension PushTransaction {
    /// Refuses a new row whose client chose a key that the database generates.
    ///
    /// A client could choose the last number, after which no row can be created. Keys of rows that the push
    /// deleted and keys that refer to another row are allowed. A hidden row with the key is a collision, which the database
    /// refuses later.
    ///
    /// - Throws: a 400 `Problem` if the client chose the key; `StoreError`.
    func checkKey(of row: EditedRow) throws {
        let (section, id) = (row.section, row.edit.id)
        guard row.edit.isCreation, !section.allowsClientKeys, let column = section.generatedKeyColumn,
            let key = id.flatMap({ settled($0) }), Self.isChosen(id, at: column), !isReference(column, in: section),
            !deleted.contains(active.footprints[section].reference(to: key))
        else { return }
        let there = try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true, includesHidden: true)
        guard there.isEmpty else { return }
        let path = (section.kind == .root ? row.step.edit.path : row.edit.path).member("id")
        throw Problem(
            .generatedKey,
            detail:
                "“\(path)” names a row that does not exist, and its key is given by the database; leave it out, or send "
                + "a temporary id.", path: path, retry: .never)
    }

    private static func isChosen(_ id: RowID?, at column: Int) -> Bool {
        guard let parts = id?.parts, parts.indices.contains(column), case .value = parts[column] else { return false }
        return true
    }

    /// True if the record or a foreign key determines the value of a key column.
    private func isReference(_ column: Int, in section: Section) -> Bool {
        if section.parent.contains(where: { $0.column == column }) { return true }
        let name = section.columns[column].name
        return active.schema.tables[section.table]?.foreignKeys.contains { $0.columns.contains(name) } ?? false
    }
}
