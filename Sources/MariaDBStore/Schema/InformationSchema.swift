import MergeCore
import RecordStore

/// Queries information_schema about one table; all results are text.
struct InformationSchema {
    private let session: MariaDBSession
    private let table: TableName?

    init(_ session: MariaDBSession, table: TableName? = nil) {
        self.session = session
        self.table = table
    }

    /// Returns the result of `SHOW CREATE TABLE`, which requires only a right on the table; empty if there is none.
    func definition() throws(StoreError) -> String {
        guard let table else { return "" }
        let text = ColumnType.text(TextType())
        let rows = try session.query(
            Statement(
                sql: "SHOW CREATE TABLE " + MariaDBDialect().quoted(table), binds: [],
                columns: ["Table", "Create Table"].map { Column(name: $0, type: text, isNullable: true) }))
        guard case .text(let definition)? = rows.first?.last else { return "" }
        return definition.string
    }

    /// Returns rows of a view of information_schema.
    func rows(
        _ columns: [String], from view: String, schemaColumn: String = "TABLE_SCHEMA",
        tableColumn: String = "TABLE_NAME", also condition: String = "",
        orderedBy order: String? = nil
    ) throws(StoreError) -> [[String?]] {
        let text = ColumnType.text(TextType())
        var conditions = [schemaColumn + (table?.schema == nil ? " = DATABASE()" : " = ?")]
        var binds: [Bind] = []
        if let schema = table?.schema { binds.append(Bind(.text(ExactText(schema)), text)) }
        if let table {
            conditions.append(tableColumn + " = ?")
            binds.append(Bind(.text(ExactText(table.name)), text))
        }
        if !condition.isEmpty { conditions.append(condition) }
        let sql =
            "SELECT " + columns.joined(separator: ", ") + " FROM information_schema." + view + " WHERE "
            + conditions.joined(separator: " AND ") + (order.map { " ORDER BY " + $0 } ?? "")
        let result = try session.query(
            Statement(
                sql: sql, binds: binds,
                columns: columns.map { Column(name: $0, type: text, isNullable: true) }))
        return result.map { row in
            row.map { value in if case .text(let text) = value { text.string } else { nil } }
        }
    }
}
