import FoundationEssentials
import GRDB
import MergeCore

/// A snapshot as a store of the clients for Swift and Python, which is used by copying it.
///
/// Its tables are those of `Sources/FieldMergeClient/Storage/StoreSchema.swift`. The program does not import that
/// module, because it contains an HTTP client. A test opens the result.
final class SnapshotDatabase: SnapshotTarget {
    private let path: String
    private let database: DatabaseQueue
    private var progress = SnapshotProgress()
    private var rest: [UInt8] = []
    private var waiting: [(resource: String, id: JSONTree, record: JSONTree)] = []
    private var isWhole = false

    private static let format = 1
    private static let recordsInTransaction = 1_000
    private static let tables = """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE base (
          resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
          generation INTEGER NOT NULL DEFAULT 0, pulled INTEGER NOT NULL DEFAULT 0,
          PRIMARY KEY (resource, key)) WITHOUT ROWID;
        """

    /// Begins a separate file, which `finish` moves to its path.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - rules: the answer to `GET /v1/rules`, so that records can be edited before the first sync.
    init(path: String, rules: [UInt8]) throws {
        self.path = path
        if FileManager.default.fileExists(atPath: path + ".part") {
            try FileManager.default.removeItem(atPath: path + ".part")
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // The file is used only when it is complete, and written again after a power cut.
            try db.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        }
        database = try DatabaseQueue(path: path + ".part", configuration: configuration)
        try database.write { db in try db.execute(sql: Self.tables) }
        try note("format", value: .integer(Int128(Self.format)))
        try note("rules", value: .text(ExactText(String(decoding: rules, as: UTF8.self))))
    }

    func write(_ bytes: [UInt8], records: Int) throws {
        rest += bytes
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.dropLast() where !line.isEmpty { try take(String(decoding: line, as: UTF8.self)) }
        rest = Array(lines.last ?? [])
        try progress.add(bytes, records: records)
    }

    private func take(_ line: String) throws {
        guard case .object(let told)? = JSONParser.parse(line) else {
            throw SettingsError("a line of the snapshot is not an object")
        }
        let members = Dictionary(told.list.map { ($0.name.string, $0.value) }) { _, last in last }
        if case .object(let head)? = members["snapshot"] {
            for member in head.list {
                switch member.name.string {
                case "feed", "revision", "resources": try note(member.name.string, value: member.value)
                case "rules": try note("rulesVersion", value: member.value)
                default: break
                }
            }
        } else if case .text(let resource)? = members["resource"], let id = members["id"],
            let record = members["record"]
        {
            waiting.append((resource.string, id, record))
            if waiting.count >= Self.recordsInTransaction { try flush() }
        } else if members["end"] != nil {
            isWhole = true
        }
    }

    private func note(_ name: String, value: JSONTree) throws {
        try database.write { db in
            try db.execute(sql: "INSERT INTO meta VALUES (?, ?)", arguments: [name, value.text])
        }
    }

    private func flush() throws {
        try database.write { db in
            let statement = try db.cachedStatement(
                sql: "INSERT INTO base (resource, key, id, record) VALUES (?, ?, ?, ?)")
            for line in waiting {
                try statement.execute(arguments: [line.resource, line.id.key, line.id.text, line.record.text])
            }
        }
        waiting = []
    }

    func finish() throws {
        guard isWhole else { throw SettingsError("the snapshot has no end") }
        try flush()
        try database.vacuum()
        try database.close()
        try FileManager.default.replaceItem(at: path + ".part", with: path)
        try progress.finish()
    }

    func drop() {
        // The next run replaces a file that remains.
        try? database.close()
        try? FileManager.default.removeItem(atPath: path + ".part")
    }
}

extension JSONTree {
    /// The text form of an id in the clients: its parts with U+001F between them.
    fileprivate var key: String {
        if case .array(let parts) = self { return parts.map(\.key).joined(separator: "\u{1F}") }
        if case .text(let text) = self { return text.string }
        return text
    }
}
