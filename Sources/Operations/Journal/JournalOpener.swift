import MergeCore
package import MergeService
package import RecordStore

/// Opens the journal: finds or creates its tables, upgrades older ones, and checks its owner.
package struct JournalOpener: Sendable {
    /// The engine of the tables.
    let engine: any RecordEngine
    /// The database that owns the journal.
    let database: any RecordEngine
    let ahead: (any WaitingStore)?
    let tables: JournalTables
    private static let patience = Duration.seconds(15)

    /// Opens a journal on the database's own server, which the merge's transaction writes.
    package init(engine: any RecordEngine, schema: String) {
        self.engine = engine
        database = engine
        ahead = nil
        tables = JournalTables(schema: schema, dialect: engine.dialect)
    }

    /// Opens a journal of `database` in a separate store.
    package init(ahead: any WaitingStore, of database: any RecordEngine) {
        engine = ahead
        self.database = database
        self.ahead = ahead
        tables = JournalTables(schema: "main", dialect: ahead.dialect)
    }

    var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    /// Returns true if the journal's schema exists; always true for SQLite, which attaches a file.
    package func exists() async throws(StoreError) -> Bool {
        guard let search = engine.dialect.search(forSchema: tables.schema) else { return true }
        let found = try await engine.read(deadline: deadline) { session throws(StoreError) in try session.query(search)
        }
        return !found.isEmpty
    }

    /// The purpose for which a journal is opened.
    package enum Purpose: Sendable {
        /// For merges: a journal without owner gets this database as owner.
        case merging
        /// For reading: a journal without owner gets none.
        case looking
        /// For an adoption from another database.
        case adopting
    }

    /// - Parameter createsTables: creates missing tables; else the journal counts as missing.
    /// - Throws: `StoreError` with the remedy if another database is the owner; of the kind `denied` if the database
    ///   user may not create tables.
    package func open(
        createsSchema: Bool = false, createsTables: Bool = true, for purpose: Purpose = .merging
    ) async throws(StoreError) -> Journal {
        if createsSchema, let creation = engine.dialect.creation(ofSchema: tables.schema) {
            try await run([creation])
        }
        var version = try await meta("version")
        if version == nil {
            guard createsTables else { throw missing("The schema “\(tables.schema)” contains no journal") }
            try await create()
            version = try await meta("version")
        }
        guard let number = version.flatMap({ Int($0) }), number <= JournalTables.version else {
            throw StoreError(
                .other, "the journal “\(tables.schema)” was made by a newer version of FieldMerge; use that one")
        }
        guard let secret = try await meta("secret").flatMap({ Hex.decode($0) }), secret.count == 32 else {
            throw StoreError(.other, "the journal “\(tables.schema)” has lost its secret; restore its table “meta”")
        }
        if purpose != .adopting { try await prove(isClaimed: purpose == .merging) }
        // The journal will contain rows in the current form, which an older gateway cannot read.
        if purpose == .merging, number < JournalTables.version {
            try await upgrade(from: number)
        }
        if createsTables, purpose == .merging { try await createClients() }
        let hashKey = SipHash.Key(secret: secret)
        if let ahead { return Journal(tables: tables, codec: .wire(secret: secret), ahead: ahead, hashKey: hashKey) }
        return Journal(tables: tables, codec: .wire(secret: secret), together: engine, hashKey: hashKey)
    }

    /// Creates the tables under a lock and with repeatable steps, because several gateways may start at once.
    private func create() async throws(StoreError) {
        let moment = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try tables.moment(in: session)
        }
        let secret = Hex.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        try await run(
            tables.creation + [
                tables.setMeta("secret", secret), try await ownerStatement(), tables.feed.begin(Self.newFeedID()),
            ] + tables.setKeysSince(moment) + [tables.setMeta("version", String(JournalTables.version))])
    }

    /// Creates the table of devices, which an older journal lacks and no push needs.
    private func createClients() async throws(StoreError) {
        if try await !answers([tables.clientsProbe]) { try await run([tables.clientsCreation]) }
    }

    /// Upgrades a journal of an older version and keeps its rows.
    ///
    /// - Throws: `StoreError`; of the kind `denied` if tables are missing and the user may not create them.
    private func upgrade(from version: Int) async throws(StoreError) {
        let feed = tables.feed
        guard try await !isInUse() else {
            throw StoreError(
                .busy,
                "the journal “\(tables.schema)” is of version \(version), and a gateway of an older version of FieldMerge "
                    + "uses it; stop all older gateways, then this one upgrades the journal to version "
                    + "\(JournalTables.version)")
        }
        // Version 4 stored conditions but no departures, so replicas may still contain departed records. Their clients
        // take a snapshot.
        let isAnew = version == 4 ? try await hasConditions() : false
        // If another user has created the tables, this one needs no right to.
        if try await !answers(feed.probes) {
            do throws(StoreError) {
                try await run(tables.creation)
            } catch {
                guard error.kind == .denied else { throw error }
                throw StoreError(
                    .denied,
                    "the journal “\(tables.schema)” is of version \(version), and version \(JournalTables.version) has "
                        + "more tables; run “fieldmerge journal init” again as a user who may make them: \(error.message)"
                )
            }
            for table in [feed.pending, feed.changes] where try await !answers([feed.conditionsProbe(table)]) {
                do throws(StoreError) {
                    try await run([feed.addConditions(to: table)])
                } catch {
                    // Several gateways may start at once.
                    guard try await answers([feed.conditionsProbe(table)]) else { throw error }
                }
            }
        }
        try await run(
            [feed.begin(Self.newFeedID())] + (isAnew ? feed.beginAnew(Self.newFeedID()) : []) + [
                tables.changeMeta("version", String(JournalTables.version))
            ])
    }

    func hasConditions() async throws(StoreError) -> Bool {
        // The query may have to read all changes.
        try await engine.read(deadline: .now + .seconds(600)) { [feed = tables.feed] session throws(StoreError) in
            try !session.query(feed.anyConditions).isEmpty
        }
    }

    /// Returns false if tables or columns are missing.
    func answers(_ probes: [Statement]) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try await engine.read(deadline: deadline) { session throws(StoreError) in
                for probe in probes { _ = try session.query(probe) }
                return true
            }
        } catch {
            if error.kind == .schemaChanged || error.kind == .denied { return false }
            throw error
        }
    }

    static func newFeedID() -> String { Hex.encode((0..<8).map { _ in UInt8.random(in: .min ... .max) }) }

    func run(_ statements: [Statement]) async throws(StoreError) {
        let name = "fieldmerge journal \(tables.schema)"
        let lock = engine.dialect.namedLock
        try await engine.write(deadline: deadline) { session throws(StoreError) in
            if let lock { try Self.call(lock.take, with: name, in: session) }
            do throws(StoreError) {
                for statement in statements { _ = try session.execute(statement) }
            } catch {
                // The connection stays open and would keep the lock.
                if let lock { try? Self.call(lock.free, with: name, in: session) }
                throw error
            }
            if let lock { try Self.call(lock.free, with: name, in: session) }
            return .commit(())
        }
    }

    private static func call(
        _ function: String, with lock: String, in session: any StoreSession
    ) throws(StoreError) {
        let rows = try session.query(
            Statement(
                sql: "SELECT " + function, binds: [Bind(.text(ExactText(lock)), JournalColumn.text.type)],
                columns: [JournalColumn.number]))
        guard rows.first?.first == .integer(1) else {
            throw StoreError(.busy, "another gateway is making the journal's tables")
        }
    }

    /// Returns a setting of the journal; nil if the setting or the table is missing.
    func meta(_ name: String) async throws(StoreError) -> String? {
        let statement = tables.meta(name)
        do {
            let rows = try await engine.read(deadline: deadline) { session throws(StoreError) in
                try session.query(statement)
            }
            guard case .text(let text)? = rows.first?.first else { return nil }
            return text.string
        } catch {
            if error.kind == .schemaChanged || error.kind == .denied { return nil }
            throw error
        }
    }
}
