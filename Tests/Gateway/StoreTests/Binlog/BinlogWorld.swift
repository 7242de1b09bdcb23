import MergeCore
import RecordStore
import TestSupport

@testable import MariaDBStore

/// A database on a server with a binary log, and the account of a reader.
struct BinlogWorld {
    let server: PrivateMariaDB
    let database: TestDatabase
    let engine: any RecordEngine

    static func start(_ sql: String, server: PrivateMariaDB? = nil) async throws -> BinlogWorld {
        let server = if let server { server } else { try await PrivateMariaDB(options: options) }
        let database = try await TestDatabase(
            .mariadb, mariadb: "CREATE TABLE marker (id INT PRIMARY KEY AUTO_INCREMENT);" + sql, sqlite: "",
            server: server)
        try await server.run("GRANT REPLICATION SLAVE ON *.* TO \(database.accountSQL)")
        return BinlogWorld(server: server, database: database, engine: try database.engine())
    }

    static let options = ["--log-bin=log", "--binlog-format=ROW", "--server-id=7", "--gtid-domain-id=3"]

    var configuration: MariaDBConfiguration {
        get throws { try MariaDBConfiguration(url: database.url) }
    }

    func run(_ sql: String) async throws { try await database.run(sql) }

    func position() async throws -> BinlogPosition {
        let text = try await server.run("SELECT @@GLOBAL.gtid_binlog_pos")
        guard let position = BinlogPosition(text.filter { !$0.isWhitespace }) else {
            throw StoreError(.other, "no position: \(text)")
        }
        return position
    }

    func schema(_ table: String) async throws -> TableSchema {
        let name = TableName(name: table)
        guard let schema = try await engine.schema(of: [name], deadline: .distant).tables[name] else {
            throw StoreError(.other, "no table \(table)")
        }
        return schema
    }

    /// The characters of all bytes in a character set.
    func characters(of set: String) async throws -> [Unicode.Scalar] {
        let bytes = (0..<256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let text = try await server.run("SELECT HEX(CONVERT(CONVERT(X'\(bytes)' USING \(set)) USING utf32))")
        let digits = Array(text.filter { !$0.isWhitespace })
        return stride(from: 0, to: digits.count, by: 8).compactMap { start in
            UInt32(String(digits[start..<start + 8]), radix: 16).flatMap { Unicode.Scalar($0) }
        }
    }

    /// A table with all columns of some names, or with its key.
    func watch(_ table: String, _ names: [String]? = nil) async throws -> WatchedTable {
        let schema = try await schema(table)
        var columns: [WatchedColumn] = []
        for (ordinal, column) in schema.columns.enumerated() where (names ?? schema.primaryKey).contains(column.name) {
            guard let type = column.types.first else { continue }
            columns.append(
                WatchedColumn(
                    ordinal: ordinal, column: column.column(as: type),
                    isUnsigned: column.declaredType.contains("unsigned"), text: try await text(of: column)))
        }
        let fractions = schema.columns.indices.filter { schema.columns[$0].declaredType.contains("(") }
        return WatchedTable(
            name: TableName(schema: database.name, name: table), columnCount: schema.columns.count, columns: columns,
            fractions: Set(fractions))
    }

    private func text(of column: ColumnSchema) async throws -> BinlogText {
        guard let set = column.declaredType.split(separator: " ").last, column.declaredType.contains("character set")
        else { return .utf8 }
        switch set {
        case "utf8mb4", "utf8mb3", "ascii": return .utf8
        case "ucs2", "utf16": return .utf16
        case "utf32": return .utf32
        case "latin1", "latin2", "cp1251": return .singleByte(try await characters(of: String(set)))
        default: return .other
        }
    }

    func name(_ table: String) -> TableName { TableName(schema: database.name, name: table) }

    /// Returns the transactions after a position that concern the watched tables.
    func read(
        _ tables: [WatchedTable], cascades: [CascadeLink] = [], after position: BinlogPosition
    ) async throws -> [ForeignTransaction] {
        let marker = try await watch("marker")
        try await run("INSERT INTO marker VALUES ()")
        let connection = try BinlogConnection(WatchedTables(tables + [marker], cascades: CascadeLinks(cascades)))
        try await connection.open(configuration, after: position)
        var found: [ForeignTransaction] = []
        while true {
            guard case .transaction(let transaction) = try await connection.next() else { continue }
            if transaction.changes.contains(where: { $0.table == marker.name }) { return found }
            if !transaction.isEmpty { found.append(transaction) }
        }
    }

    /// Returns the current values of some columns, in the order of the rows.
    func select(_ table: WatchedTable, order: String) async throws -> [[Value]] {
        let columns = table.columns.map(\.column)
        let list = columns.map { MariaDBDialect().quoted($0.name) }.joined(separator: ", ")
        let sql = "SELECT \(list) FROM \(MariaDBDialect().quoted(table.name)) ORDER BY \(order)"
        return try await engine.read(deadline: .distant) { session throws(StoreError) in
            try session.query(Statement(sql: sql, binds: [], columns: columns))
        }
    }

    func end() async {
        await engine.close()
        server.kill()
    }
}

extension [WatchedValue] {
    /// The values, also with the spelling of addresses; "absent" for columns that the log lacks.
    var texts: [String] {
        map { value in
            switch value {
            case .absent: "absent"
            case .undecoded: "undecoded"
            case .value(let value): String(describing: value)
            }
        }
    }
}
