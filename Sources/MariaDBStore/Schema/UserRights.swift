import MergeCore
import RecordStore

/// The rights of the database user in information_schema: global, on a schema, on a table, on columns.
final class UserRights {
    private let session: MariaDBSession
    private var known: [String: Set<String>] = [:]
    private var name: String?

    init(_ session: MariaDBSession) {
        self.session = session
    }

    func database() throws(StoreError) -> String? {
        if let name { return name }
        name = try texts("SELECT DATABASE()", values: []).first
        return name
    }

    /// - Returns: nil if rights come from a role, which information_schema does not resolve.
    func rights(on table: TableName) throws(StoreError) -> Set<String>? {
        let connected = try database()
        guard let schema = table.schema ?? connected else { return nil }
        let global = try read("USER_PRIVILEGES", where: "", values: [])
        let ofSchema = try read("SCHEMA_PRIVILEGES", where: " AND ? LIKE TABLE_SCHEMA", values: [schema])
        let ofTable = try read(
            "TABLE_PRIVILEGES", where: " AND TABLE_SCHEMA = ? AND TABLE_NAME = ?", values: [schema, table.name])
        let ofColumns = try read(
            "COLUMN_PRIVILEGES", where: " AND TABLE_SCHEMA = ? AND TABLE_NAME = ?", values: [schema, table.name])
        let rights = global.union(ofSchema).union(ofTable).union(ofColumns)
        return rights.subtracting(["USAGE"]).isEmpty ? nil : rights
    }

    private func read(_ view: String, where condition: String, values: [String]) throws(StoreError) -> Set<String> {
        let key = view + values.joined(separator: "\u{0}")
        if let rights = known[key] { return rights }
        // GRANTEE is 'user'@'host'; CURRENT_USER() is the same without quotes.
        let grantee = "CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')"
        let sql =
            "SELECT DISTINCT PRIVILEGE_TYPE FROM information_schema.\(view) WHERE GRANTEE = \(grantee)\(condition)"
        let rights = Set(try texts(sql, values: values))
        known[key] = rights
        return rights
    }

    private func texts(_ sql: String, values: [String]) throws(StoreError) -> [String] {
        let text = ColumnType.text(TextType())
        let rows = try session.query(
            Statement(
                sql: sql, binds: values.map { Bind(.text(ExactText($0)), text) },
                columns: [Column(name: "text", type: text, isNullable: true)]))
        return rows.compactMap { row in
            if case .text(let text)? = row.first { text.string } else { nil }
        }
    }
}
