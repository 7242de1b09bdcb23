import Foundation
import GRDB

/// Snapshots that an app is shipped with: NDJSON, or SQLite.
enum SnapshotReader {
    private static let recordsInTransaction = 500

    /// Makes a new store of a snapshot in SQLite, which is a copy of the file.
    ///
    /// Does nothing if the store exists, or the snapshot is NDJSON.
    static func copy(_ snapshot: URL, to url: URL) throws {
        guard url.lastPathComponent != ":memory:", !FileManager.default.fileExists(atPath: url.path),
            try isSQLite(snapshot)
        else { return }
        try check(snapshot)
        // A copy that was cut off is no store.
        let part = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).part")
        try? FileManager.default.removeItem(at: part)
        try FileManager.default.copyItem(at: snapshot, to: part)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: part.path)
        try FileManager.default.moveItem(at: part, to: url)
    }

    /// Fills a store that has not synced yet; continues an interrupted try.
    ///
    /// - Throws: `FieldMergeError.badSnapshot`.
    static func load(_ snapshot: URL, into file: StoreFile) async throws {
        var loading = Loading(file: file)
        if try isSQLite(snapshot) {
            try await lines(ofSQLite: snapshot, into: &loading)
        } else {
            try await lines(ofText: snapshot, into: &loading)
        }
        try await loading.end()
    }

    private static func isSQLite(_ url: URL) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        let beginning = try handle.read(upToCount: 16) ?? Data()
        guard !beginning.starts(with: [0x1F, 0x8B]) else {
            throw FieldMergeError.badSnapshot("the snapshot is packed: ship it as .ndjson or .sqlite")
        }
        return beginning.starts(with: "SQLite format 3".utf8)
    }

    private static func opened(_ url: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }

    private static func check(_ url: URL) throws {
        do {
            let names = try opened(url).read { db in try String.fetchSet(db, sql: "SELECT name FROM meta") }
            guard names.isSuperset(of: ["feed", "revision"]) else {
                throw FieldMergeError.badSnapshot("the file has no feed and revision")
            }
        } catch let error as DatabaseError {
            throw FieldMergeError.badSnapshot("the snapshot cannot be read: \(error)")
        }
    }

    private static func lines(ofText url: URL, into loading: inout Loading) async throws {
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        var splitter = LineSplitter()
        while let data = try handle.read(upToCount: 1 << 16), !data.isEmpty {
            for line in splitter.split(data) { try await loading.take(line) }
        }
        if let last = splitter.rest { try await loading.take(last) }
    }

    private static func lines(ofSQLite url: URL, into loading: inout Loading) async throws {
        try check(url)
        let database = try opened(url)
        let meta = try await database.read { db in
            try Row.fetchAll(db, sql: "SELECT name, value FROM meta").reduce(into: JSONObject()) { meta, row in
                meta[row[0]] = JSONValue(text: row[1] as String)
            }
        }
        try await loading.begin([
            "feed": meta["feed"] ?? .null, "revision": meta["revision"] ?? .null,
            "rules": meta["rulesVersion"] ?? .null,
            "resources": meta["resources"] ?? .null,
        ])
        loading.rules = meta["rules"]?.stringValue
        var last = ("", "")
        while true {
            let after = last
            let rows = try await database.read { db in
                try Row.fetchAll(
                    db,
                    sql: "SELECT resource, key, id, record FROM base WHERE (resource, key) > (?, ?)"
                        + " ORDER BY resource, key LIMIT ?",
                    arguments: [after.0, after.1, recordsInTransaction]
                ).map { row in (row[0] as String, row[1] as String, row[2] as String, row[3] as String) }
            }
            guard let end = rows.last else { break }
            last = (end.0, end.1)
            for (resource, _, id, record) in rows {
                let told: JSONValue = [
                    "resource": .string(resource), "id": JSONValue(text: id) ?? .null,
                    "record": JSONValue(text: record) ?? .null,
                ]
                try await loading.add(told)
            }
        }
        loading.isWhole = true
    }

    private struct Loading {
        let file: StoreFile
        var rules: String?
        var isWhole = false
        private var hasBegun = false
        private var part: [RecordLine] = []
        private var isPartial = false

        init(file: StoreFile) { self.file = file }

        mutating func take(_ line: Data) async throws {
            guard !isWhole else { return }
            guard let told = JSONValue(bytes: line), let members = told.objectValue else {
                throw FieldMergeError.badSnapshot("a line of the snapshot is no object")
            }
            if let head = members["snapshot"] {
                try await begin(head)
            } else if !hasBegun {
                throw FieldMergeError.badSnapshot("the file does not begin as a snapshot does")
            } else if members["record"] != nil {
                try await add(told)
            } else if members["end"] != nil {
                isWhole = true
            }
        }

        mutating func begin(_ head: JSONValue) async throws {
            _ = try await file.write("snapshot begins") { ledger in
                guard try ledger.takeLease() else { throw LeaseLost() }
                _ = try ledger.beginSnapshot(head, goesOn: false)
            }
            hasBegun = true
            // If the snapshot lacks a resource of this store, its other records are available until everything is read once.
            if let held = head["resources"].arrayValue, let wanted = file.context.resources {
                isPartial = !Set(wanted.map(JSONValue.string)).isSubset(of: held)
            }
        }

        mutating func add(_ told: JSONValue) async throws {
            guard let line = RecordLine(told) else {
                throw FieldMergeError.badSnapshot("a record of the snapshot cannot be read")
            }
            part.append(line)
            if part.count >= recordsInTransaction { try await store() }
        }

        private mutating func store() async throws {
            let lines = part
            part = []
            _ = try await file.write("snapshot") { try $0.storePart(lines, cursor: nil) }
        }

        mutating func end() async throws {
            guard isWhole else {
                _ = try await file.write("snapshot anew") { ledger in
                    guard try ledger.takeLease() else { throw LeaseLost() }
                    try ledger.forgetSnapshot()
                    try ledger.dropLease()
                }
                throw FieldMergeError.badSnapshot("the snapshot is not whole")
            }
            try await store()
            let (rules, isPartial) = (rules, isPartial)
            _ = try await file.write("snapshot ends") { ledger in
                if let rules, let read = Rules(text: rules) { try ledger.storeRules(read, text: rules) }
                try ledger.endSnapshot()
                if isPartial { try ledger.setMeta("resnapshot", true) }
                try ledger.dropLease()
            }
        }
    }
}
