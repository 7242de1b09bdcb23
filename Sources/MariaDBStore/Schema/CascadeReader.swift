import MergeCore
import RecordStore

/// The foreign keys of a schema that delete rows or set columns to NULL, read once and sorted by the table that they
/// refer to.
///
/// Keys from one schema into another are not followed: to find them, the server would open every table it has.
final class CascadeReader {
    private let session: MariaDBSession
    private var known: [String?: [TableName: [Dependent]]] = [:]

    init(_ session: MariaDBSession) {
        self.session = session
    }

    func dependents(of table: TableName) throws(StoreError) -> [Dependent] {
        if let ofSchema = known[table.schema] { return ofSchema[table] ?? [] }
        let read = try read(table.schema)
        known[table.schema] = read
        return read[table] ?? []
    }

    private func read(_ schema: String?) throws(StoreError) -> [TableName: [Dependent]] {
        let text = ColumnType.text(TextType())
        let place = schema == nil ? "DATABASE()" : "?"
        let sql = """
            SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, \
            r.DELETE_RULE FROM information_schema.KEY_COLUMN_USAGE k \
            JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA \
            AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME \
            WHERE k.TABLE_SCHEMA = \(place) AND r.CONSTRAINT_SCHEMA = \(place) \
            AND k.REFERENCED_TABLE_SCHEMA = k.TABLE_SCHEMA AND r.DELETE_RULE IN ('CASCADE', 'SET NULL') \
            ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION
            """
        let bind = schema.map { [Bind(.text(ExactText($0)), text), Bind(.text(ExactText($0)), text)] } ?? []
        let columns = (0..<6).map { Column(name: "\($0)", type: text, isNullable: true) }
        let rows = try session.query(Statement(sql: sql, binds: bind, columns: columns)).map { row in
            row.map { value -> String in if case .text(let text) = value { text.string } else { "" } }
        }
        var keys: [[String]: [[String]]] = [:]
        var order: [[String]] = []
        for row in rows {
            let key = [row[0], row[1]]
            if keys[key] == nil { order.append(key) }
            keys[key, default: []].append(row)
        }
        var dependents: [TableName: [Dependent]] = [:]
        for key in order {
            guard let rows = keys[key], let first = rows.first else { continue }
            dependents[TableName(schema: schema, name: first[3]), default: []].append(
                Dependent(
                    constraint: first[1], table: TableName(schema: schema, name: first[0]), columns: rows.map { $0[2] },
                    targetColumns: rows.map { $0[4] }, effect: first[5] == "CASCADE" ? .delete : .setNull))
        }
        return dependents
    }
}
