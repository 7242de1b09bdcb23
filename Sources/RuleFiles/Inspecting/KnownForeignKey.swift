import MergeCore
import RecordStore

/// A foreign key between two inspected tables, with names as the tables spell them.
///
/// In SQLite a foreign key may spell them in another case.
struct KnownForeignKey {
    let columns: [String]
    let target: InspectedTable
    let targetColumns: [String]

    /// Returns nil if the target is not inspected, lacks the columns, or has columns of another kind.
    init?(_ key: ForeignKey, of table: TableSchema, among tables: [InspectedTable]) {
        guard let target = tables.first(where: { $0.name == key.target }) ?? Self.folded(key.target, tables: tables)
        else {
            return nil
        }
        let columns = key.targetColumns.compactMap { name in
            target.schema.column(name)?.name
                ?? target.schema.columns.first { $0.name.lowercased() == name.lowercased() }?.name
        }
        guard columns.count == key.columns.count, !columns.isEmpty else { return nil }
        for (own, name) in zip(key.columns, columns) {
            guard let kind = table.column(own)?.types.first?.comparison,
                kind == target.schema.column(name)?.types.first?.comparison
            else { return nil }
        }
        self.columns = key.columns
        self.target = target
        targetColumns = columns
    }

    private static func folded(_ name: TableName, tables: [InspectedTable]) -> InspectedTable? {
        let wanted = name.name.lowercased()
        let found = tables.filter { $0.name.schema == name.schema && $0.name.name.lowercased() == wanted }
        return found.count == 1 ? found.first : nil
    }

    var refersToKey: Bool { Set(targetColumns) == Set(target.key) }
}
