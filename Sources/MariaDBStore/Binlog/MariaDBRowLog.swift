import MergeCore
import RecordStore

/// The binary log of a MariaDB server as a row log.
struct MariaDBRowLog: RowLog {
    let engine: MariaDBEngine
    let configuration: MariaDBConfiguration
    var limits = BinlogLimits()

    private static let patience = Duration.seconds(10)

    // MARK: The server

    func refusal(keepsValues: Bool) async throws(StoreError) -> String? {
        try await withSession { session throws(StoreError) in
            guard session.isMariaDB else { return "the server is MySQL" }
            return Self.refusal(under: try Self.settings(of: session), keepsValues: keepsValues)
        }
    }

    static func refusal(under settings: [String: String], keepsValues: Bool = false) -> String? {
        func isOn(_ name: String) -> Bool { settings[name] == "ON" }
        if !isOn("LOG_BIN") { return "the server writes no binary log (log_bin)" }
        if settings["BINLOG_FORMAT"] != "ROW" {
            return "binlog_format is \(settings["BINLOG_FORMAT"] ?? "unknown") and not ROW"
        }
        if isOn("WSREP_ON") { return "the server belongs to a Galera cluster, whose nodes have different logs" }
        if !isOn("LOG_SLAVE_UPDATES"), settings["GTID_SLAVE_POS"]?.isEmpty == false {
            return "the server is a replica without log_slave_updates"
        }
        if settings["LOWER_CASE_TABLE_NAMES"] == "2" { return "lower_case_table_names is 2" }
        if isOn("LOG_BIN_COMPRESS"), settings["BINLOG_CHECKSUM"] == "NONE" {
            return "the client library cannot read compressed events without checksums (binlog_checksum)"
        }
        if keepsValues, settings["BINLOG_ROW_IMAGE"] != "FULL" {
            return "binlog_row_image is \(settings["BINLOG_ROW_IMAGE"] ?? "unknown"), and --keep-foreign needs FULL"
        }
        return nil
    }

    /// Reads settings by name, because some versions lack some of them.
    static func settings(of session: MariaDBSession) throws(StoreError) -> [String: String] {
        let text = ColumnType.text(TextType())
        let rows = try session.query(
            Statement(
                sql: """
                    SELECT VARIABLE_NAME, CAST(VARIABLE_VALUE AS CHAR) FROM information_schema.GLOBAL_VARIABLES \
                    WHERE VARIABLE_NAME IN ('LOG_BIN', 'BINLOG_FORMAT', 'BINLOG_CHECKSUM', 'WSREP_ON', \
                    'LOG_SLAVE_UPDATES', 'GTID_SLAVE_POS', 'LOWER_CASE_TABLE_NAMES', 'LOG_BIN_COMPRESS', \
                    'BINLOG_ROW_IMAGE')
                    """, binds: [],
                columns: ["name", "value"].map { Column(name: $0, type: text, isNullable: true) }))
        var settings: [String: String] = [:]
        for row in rows {
            guard case .text(let name) = row[0], case .text(let value) = row[1] else { continue }
            settings[name.string] = value.string
        }
        return settings
    }

    func logs(_ statement: Statement) async throws(StoreError) -> Bool {
        try await engine.withConnection(for: .write, deadline: .now.advanced(by: Self.patience)) {
            connection throws(StoreError) in
            let before = try connection.read { session throws(StoreError) in try Self.text("@@last_gtid", session) }
            try connection.write(locking: []) { session throws(StoreError) in
                _ = try session.execute(statement)
                return .commit(())
            }
            return try connection.read { session throws(StoreError) in
                try Self.text("@@last_gtid", session) != before
            }
        }
    }

    func position() async throws(StoreError) -> String {
        try await withSession { session throws(StoreError) in try Self.text("@@GLOBAL.gtid_binlog_pos", session) }
    }

    private static func text(_ expression: String, _ session: any StoreSession) throws(StoreError) -> String {
        let column = Column(name: "value", type: .text(TextType()), isNullable: true)
        let rows = try session.query(
            Statement(sql: "SELECT CAST(\(expression) AS CHAR)", binds: [], columns: [column]))
        guard case .text(let text)? = rows.first?.first else { return "" }
        return text.string
    }

    private func withSession<Answer: Sendable>(
        _ body: @escaping @Sendable (MariaDBSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await engine.withConnection(for: .snapshot, deadline: .now.advanced(by: Self.patience)) {
            connection throws(StoreError) in
            guard let session = connection as? MariaDBSession else {
                throw StoreError(.other, "the pool lends another kind of connection")
            }
            defer { session.abandon() }
            return try body(session)
        }
    }

    func hasReached(_ position: String, _ other: String) -> Bool {
        guard let here = BinlogCheckpoint(position), let there = BinlogCheckpoint(other) else { return false }
        return here.position.hasReached(there.position)
    }

    // MARK: Reading

    func reader(
        after position: String, of tables: [LoggedTable]
    ) async throws(RowLogError) -> any RowLogReader {
        guard let checkpoint = BinlogCheckpoint(position) else {
            throw .unusablePosition("the stored position is damaged")
        }
        let forms: LoggedForms
        let connection: BinlogConnection
        do throws(StoreError) {
            forms = try await withSession { session throws(StoreError) in
                let isLower = try Self.settings(of: session)["LOWER_CASE_TABLE_NAMES"] == "1"
                return try LoggedForms(tables, lowercasingNames: isLower, session)
            }
            connection = try BinlogConnection(forms.watched)
        } catch {
            throw RowLogError(error)
        }
        do throws(BinlogReadError) {
            try await connection.open(configuration, after: checkpoint.start, limits)
        } catch {
            throw RowLogError(error)
        }
        return MariaDBRowLogReader(connection, forms, from: checkpoint)
    }
}

extension RowLogError {
    init(_ error: StoreError) {
        self = error.kind == .denied ? .refused(error.message) : .failed(error)
    }

    init(_ error: BinlogReadError) {
        switch error {
        case .unusablePosition(let text): self = .unusablePosition(text)
        case .ended: self = .failed(StoreError(.disconnected, "the server ended its log"))
        case .failed(let error): self = RowLogError(error)
        }
    }
}
