import MergeCore
import RecordStore

extension PushTransaction {
    /// Leaves keys that the database numbers to the database.
    ///
    /// Whoever chooses one may choose the last, after which no row can be created any more. A row that comes back keeps its
    /// key, also one that the push itself deleted; a key that refers to another row is that row's; and one that is taken,
    /// by a row that clients do not see, is refused as a collision.
    ///
    /// - Throws: a 400 `Problem` where a row is to be inserted under a number of the client's, or a `StoreError`.
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

    /// Returns true for a key column that the record, or a foreign key, gives its value.
    private func isReference(_ column: Int, in section: Section) -> Bool {
        if section.parent.contains(where: { $0.column == column }) { return true }
        let name = section.columns[column].name
        return active.schema.tables[section.table]?.foreignKeys.contains { $0.columns.contains(name) } ?? false
    }
}
