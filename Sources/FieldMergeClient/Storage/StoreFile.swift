package import Foundation
import GRDB
import Synchronization

extension DatabaseError {
    /// No process can write the store; all other errors may be temporary, or of this process only.
    var isOfDisk: Bool {
        [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY].contains(resultCode.primaryResultCode)
    }
}

/// The file of a store: SQLite with one writer, and readers of the last commit.
package final class StoreFile: Sendable {
    /// The URL of the file; nil in memory.
    let url: URL?
    let writer: any DatabaseWriter
    let context: LedgerContext
    private let isClosed = Mutex(false)

    /// Opens the file, or makes it.
    ///
    /// - Parameters:
    ///   - url: the file; `:memory:` for a store in memory.
    ///   - isSafe: false for tests that need no durability.
    /// - Throws: `FieldMergeError.wrongStore` if it is not a store of this version.
    package init(at url: URL, context: LedgerContext, isSafe: Bool = true) throws {
        self.context = context
        let isInMemory = url.lastPathComponent == ":memory:"
        self.url = isInMemory ? nil : url
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.foreignKeysEnabled = false
        configuration.observesSuspensionNotifications = true
        do {
            if isInMemory {
                writer = try DatabaseQueue(configuration: configuration)
            } else {
                try Self.check(url)
                writer = try DatabasePool(path: url.path, configuration: configuration)
            }
            // A pool sets NORMAL, with which a power cut loses the last edits.
            let level = isSafe ? "FULL" : "OFF"
            try writer.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = \(level)") }
            try writer.write { db in try Self.prepare(db, at: url) }
        } catch let error as DatabaseError {
            throw FieldMergeError.wrongStore("\(url.lastPathComponent) is no store: \(error)")
        }
        _ = LedgerContext.open.withLock { $0.insert(context.owner) }
    }

    /// - Throws: `FieldMergeError.wrongStore` if another program's database would be turned into a store.
    private static func check(_ url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        let tables = try DatabaseQueue(path: url.path, configuration: configuration).read { db in
            try String.fetchSet(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        guard tables.isEmpty || tables.contains("meta") else {
            throw FieldMergeError.wrongStore("\(url.lastPathComponent) is the database of another program")
        }
    }

    private static func prepare(_ db: Database, at url: URL) throws {
        let lacksUses = try db.tableExists("edit") && !db.tableExists("edit_use")
        for statement in StoreSchema.tables { try db.execute(sql: statement) }
        // The trigger of updates adds the uses of edits by earlier versions.
        if lacksUses { try db.execute(sql: "UPDATE edit SET id = id") }
        let ledger = Ledger(db, LedgerContext())
        switch try ledger.meta("format") {
        case .null: try ledger.setMeta("format", .integer(Int128(StoreSchema.format)))
        case .integer(Int128(StoreSchema.format)): break
        case let found:
            throw FieldMergeError.newerStore(
                "\(url.lastPathComponent) has the format \(found), and this version knows \(StoreSchema.format)")
        }
        // Earlier versions did not name the process that delivers an event.
        if try !db.columns(in: "event").contains(where: { $0.name == "owner" }) {
            try db.execute(sql: "ALTER TABLE event ADD COLUMN owner TEXT")
        }
    }

    /// Runs statements in a transaction: all of them are on disk when it returns, or none if it throws.
    ///
    /// - Returns: the value of the closure, and the effects for the app.
    package func write<T: Sendable>(
        _ name: String, _ body: @escaping @Sendable (Ledger) throws -> T
    ) async throws -> (T, LedgerEffects) {
        try checkOpen()
        let context = context
        try context.step("\(name): begin")
        let writer = writer
        @Sendable func transaction() async throws -> (T, LedgerEffects, [String]) {
            try await writer.write { db in
                let ledger = Ledger(db, context)
                let stored = try ledger.storeUnstored()
                let value = try body(ledger)
                if !ledger.effects.touched.isEmpty { try ledger.unlistSettled() }
                try context.step("\(name): commit")
                return (value, ledger.effects, stored)
            }
        }
        let (value, effects, stored): (T, LedgerEffects, [String])
        do {
            (value, effects, stored) = try await transaction()
        } catch let error as DatabaseError where error.isOfIndex {
            guard try await dropIndexes() else { throw error }
            (value, effects, stored) = try await transaction()
        }
        if !stored.isEmpty {
            context.unstored.withLock { $0 = $0.filter { !stored.contains($0.value.push.key) } }
        }
        try context.step("\(name): committed")
        return (value, effects)
    }

    /// Drops the indexes of queries, which may be damaged; returns whether writes depended on them.
    @discardableResult
    func dropIndexes() async throws -> Bool {
        let context = context
        let hadTriggers = try await writer.write { db in
            let ledger = Ledger(db, context)
            defer { try? ledger.dropIndexTriggers() }
            return try ledger.hasIndexTriggers()
        }
        // A damaged table may remain. Without the triggers nothing uses it.
        try? await writer.write { db in try Ledger(db, context).dropIndexes() }
        return hadTriggers
    }

    /// Reads the last commit, without waiting for a writer.
    package func read<T: Sendable>(_ body: @escaping @Sendable (Ledger) throws -> T) async throws -> T {
        try checkOpen()
        let context = context
        return try await writer.read { db in try body(Ledger(db, context)) }
    }

    /// Reads without a concurrent write, also if the store cannot be written.
    func readAlone<T: Sendable>(_ body: @escaping @Sendable (Ledger) throws -> T) async throws -> T {
        try checkOpen()
        let context = context
        return try await writer.writeWithoutTransaction { db in try body(Ledger(db, context)) }
    }

    /// The same, on the thread of the caller.
    func readNow<T>(_ body: (Ledger) throws -> T) throws -> T {
        try checkOpen()
        return try writer.read { db in try body(Ledger(db, context)) }
    }

    /// A number that changes when another process has written.
    func dataVersion() async throws -> Int {
        try checkOpen()
        return try await writer.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
    }

    /// False if the file was deleted since it was opened.
    var isThere: Bool { url.map { FileManager.default.fileExists(atPath: $0.path) } ?? true }

    private func checkOpen() throws {
        if isClosed.withLock({ $0 }) { throw FieldMergeError.storeClosed }
    }

    /// Closes the file after the transactions under way.
    package func close() {
        endWriting()
        _ = LedgerContext.open.withLock { $0.remove(context.owner) }
    }

    private func endWriting() {
        let wasOpen = isClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        if wasOpen { try? writer.close() }
    }

    /// Closes the file and deletes it.
    ///
    /// Its opening ends after that, so that the next opening does not detect an interrupted sign-out.
    func remove() throws {
        defer { _ = LedgerContext.open.withLock { $0.remove(context.owner) } }
        endWriting()
        guard let url else { return }
        for suffix in ["", "-wal", "-shm"] {
            let path = url.path + suffix
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }
}
