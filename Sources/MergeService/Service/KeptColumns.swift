import MergeCore
import RecordStore

/// The columns that a deletion keeps of a row, by its table: those that the rules name, and those of `undo-columns`.
///
/// Nothing is kept of a table that no rule names, except what names a row and ties it to others.
struct KeptColumns: Sendable {
    private let byTable: [TableName: [Column]]

    init(_ catalog: Catalog, schema: DatabaseSchema) {
        // As in `Footprint`, a table may be spelled in more than one way.
        var names: [String: Set<String>] = [:]
        for section in catalog.resources.flatMap(\.sections) {
            names[section.table.name.lowercased(), default: []].formUnion(section.keptColumns)
        }
        byTable = schema.tables.mapValues { table in
            let kept = names[table.name.name.lowercased()] ?? []
            return table.restorableColumns.filter { kept.contains($0.name) }
        }
    }

    /// Returns the columns of a table that are kept.
    subscript(table: TableName) -> [Column] { byTable[table] ?? [] }
}
