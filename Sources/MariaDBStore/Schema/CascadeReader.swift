import MergeCore
import RecordStore

/// The foreign keys of a schema that delete or change rows, by the table that they refer to.
///
/// The actions come from the table definitions: information_schema hides them from a user with rights on single tables.
/// Foreign keys between schemas are not followed, because the server would have to open all its tables.
final class CascadeReader {
    private let session: MariaDBSession
    private var known: [String?: [TableName: [ForeignKeyRows]]] = [:]
    private var actions: [TableName: ReferentialActions] = [:]

    /// The rows of information_schema about one foreign key.
    private struct ForeignKeyRows {
        let name: String
        let table: TableName
        var columns: [String] = []
        var targetColumns: [String] = []
    }

    init(_ session: MariaDBSession) {
        self.session = session
    }

    func dependents(of table: TableName) throws(StoreError) -> [Dependent] {
        var dependents: [Dependent] = []
        for key in try keys(table.schema)[table] ?? [] {
            let actions = try actions(of: key.table)
            let (onDelete, onUpdate) = (actions.onDelete(key.name), actions.onUpdate(key.name))
            if onDelete == nil, onUpdate == nil { continue }
            dependents.append(
                Dependent(
                    constraint: key.name, table: key.table, columns: key.columns, target: table,
                    targetColumns: key.targetColumns,
                    onDelete: onDelete, onUpdate: onUpdate))
        }
        return dependents
    }

    private func keys(_ schema: String?) throws(StoreError) -> [TableName: [ForeignKeyRows]] {
        if let ofSchema = known[schema] { return ofSchema }
        let read = try read(schema)
        known[schema] = read
        return read
    }

    private func actions(of table: TableName) throws(StoreError) -> ReferentialActions {
        if let ofTable = actions[table] { return ofTable }
        var definition = ""
        do {
            definition = try InformationSchema(session, table: table).definition()
        } catch {
            // A user with rights on single columns can read the key, but not the table's definition.
            guard error.kind == .denied else { throw error }
        }
        let read = ReferentialActions(definition: definition)
        actions[table] = read
        return read
    }

    private func read(_ schema: String?) throws(StoreError) -> [TableName: [ForeignKeyRows]] {
        let text = ColumnType.text(TextType())
        let place = schema == nil ? "DATABASE()" : "?"
        let sql = """
            SELECT TABLE_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_NAME, COLUMN_NAME, REFERENCED_COLUMN_NAME \
            FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = \(place) \
            AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
            """
        let columns = (0..<5).map { Column(name: "\($0)", type: text, isNullable: true) }
        let rows = try session.query(
            Statement(sql: sql, binds: schema.map { [Bind(.text(ExactText($0)), text)] } ?? [], columns: columns)
        ).map { row in
            row.map { value -> String in if case .text(let text) = value { text.string } else { "" } }
        }
        var keys: [TableName: [ForeignKeyRows]] = [:]
        for row in rows {
            let target = TableName(schema: schema, name: row[2])
            let table = TableName(schema: schema, name: row[0])
            var ofTarget = keys[target] ?? []
            if ofTarget.last?.name != row[1] || ofTarget.last?.table != table {
                ofTarget.append(ForeignKeyRows(name: row[1], table: table))
            }
            ofTarget[ofTarget.count - 1].columns.append(row[3])
            ofTarget[ofTarget.count - 1].targetColumns.append(row[4])
            keys[target] = ofTarget
        }
        return keys
    }
}
