import MergeCore
import RecordStore

/// The columns that a deletion stores in the journal, by table: those of the rules, including `undo-columns`.
///
/// For other tables, only keys and foreign keys are stored.
struct KeptColumns: Sendable {
    private let byTable: [TableName: [Column]]

    init(_ catalog: Catalog, schema: DatabaseSchema) {
        var names: [TableName: Set<String>] = [:]
        for section in catalog.resources.flatMap(\.sections) {
            names[section.table, default: []].formUnion(section.keptColumns)
        }
        byTable = schema.tables.mapValues { table in
            let kept = names[table.name] ?? []
            return table.restorableColumns.filter { kept.contains($0.name) }
        }
    }

    subscript(table: TableName) -> [Column] { byTable[table] ?? [] }
}
