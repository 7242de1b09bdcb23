import MergeService
import Operations
import RecordStore
import TestSupport

/// A journal whose rows a test makes older or newer than they are.
struct OldJournal: Sendable {
    let database: TestDatabase
    let engine: any RecordEngine
    let journal: Journal

    init(_ kind: TestEngine) async throws {
        database = try await Ledger.database(kind)
        try await database.initJournal()
        engine = try database.engine(journal: true)
        let schema = kind == .sqlite ? JournalTables.attachedName : database.journalName
        journal = try await JournalOpener(engine: engine, schema: schema).open()
    }

    func pruning(_ owner: String = "one", engine other: (any RecordEngine)? = nil) -> JournalPruning {
        let place = other.map { Journal(tables: journal.tables, codec: journal.codec, together: $0) } ?? journal
        return JournalPruning(journal: place, keyDays: 30, entryDays: 400, owner: owner)
    }

    /// A moment by the clock of the database.
    func moment(_ days: Int) -> String {
        switch database.kind {
        case .mariadb: "UTC_TIMESTAMP(6) + INTERVAL \(days) DAY"
        case .sqlite: "strftime('%Y-%m-%d %H:%M:%f', 'now', '\(days) days')"
        }
    }

    /// Adds rows of one age with their keys.
    ///
    /// - Parameter isKeyAlone: the rows contain only a key.
    func add(_ count: Int, days: Int, isKeyAlone: Bool = false) async throws {
        let numbers =
            database.kind == .mariadb
            ? "(SELECT seq AS i FROM seq_1_to_\(count)) numbers"
            : "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) SELECT i FROM n)"
        let name =
            database.kind == .mariadb ? "UNHEX(SHA2(CONCAT(RAND(), i), 256))" : "randomblob(32)"
        let entry = isKeyAlone ? "NULL, NULL" : "'accounts', '1'"
        try await database.runOnJournal(
            """
            INSERT INTO entries (at, who, push_key, name, code, answer, resource, record)
              SELECT \(moment(-days)), '', 'k', \(name), 200, '{}', \(entry) FROM \(numbers);
            """)
    }

    /// The number of rows, of keys, and of stored answers.
    func counts() async throws -> String {
        try await database.runOnJournal("SELECT COUNT(*), COUNT(name), COUNT(answer) FROM entries;")
    }
}
