import Foundation
import Gateway
import MergeService
import MergeWire
import TestSupport

/// The database and the gateway of a chapter.
enum CorpusGateway {
    /// Sends over one connection to a gateway on a new database while a closure runs.
    ///
    /// - Parameter version: writes the version of the active rules.
    static func with<Answer: Sendable>(
        _ chapter: Chapter, _ engine: TestEngine, _ body: @escaping @Sendable (CorpusClient) async throws -> Answer
    ) async throws -> Answer {
        try await gateway(chapter, engine) { gateway, version async throws in
            try await gateway.client { session in
                try await body(CorpusClient(session, version: version, hasJournal: chapter.hasJournal))
            }
        }
    }

    /// Runs a gateway on a new database.
    static func gateway<Answer: Sendable>(
        _ chapter: Chapter, _ engine: TestEngine, journal: JournalPlace = .together,
        _ body: @escaping @Sendable (RunningGateway, _ version: String) async throws -> Answer
    ) async throws -> Answer {
        let database = try await database(chapter, engine)
        return try await RunningGateway.with(
            database, rules: try rules(chapter), tokens: chapter.needsTokens ? tokens : nil,
            journal: chapter.hasJournal ? journal : nil,
            configure: { configuration in
                configuration.wire.bodyBytes = 8_000
                configuration.wire.edits = 12
                configuration.wire.items = 40
                configuration.merge.rowsPerRecord = 50
                configuration.merge.pageSize = 20
                configuration.merge.defaultPageSize = 10
            }
        ) { gateway async throws in
            if chapter.hasJournal, journal == .together { try await countEntries(database) }
            let version = try await gateway.client(token: office) {
                try await $0.get("/v1/rules").json()["version"]?.text
            }
            return try await body(gateway, version ?? "")
        }
    }

    private static func database(_ chapter: Chapter, _ engine: TestEngine) async throws -> TestDatabase {
        let folder = "Tests/Acceptance/Corpus/\(chapter.folder)/"
        var sql = engine == .mariadb ? "ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;\n" : ""
        for name in ["tables.\(engine)", "schema", "schema.\(engine)"] {
            guard FileManager.default.fileExists(atPath: Repository.root + folder + name + ".sql") else { continue }
            let text = try Repository.text(folder + name + ".sql")
            sql += engine == .sqlite ? text.replacing("AUTO_INCREMENT", with: "AUTOINCREMENT") : text
        }
        let database = try await TestDatabase(engine, mariadb: sql, sqlite: sql)
        if engine == .mariadb {
            // Some tables have no transactions, and are locked together with the journal.
            try await database.grantTableLocks()
            let journal = database.journalName.replacing("_", with: "\\_")
            try await database.runAsOperator("GRANT LOCK TABLES ON `\(journal)`.* TO \(database.accountSQL)")
        }
        return database
    }

    private static func rules(_ chapter: Chapter) throws -> [String: String] {
        let folder = "Tests/Acceptance/Corpus/\(chapter.folder)/rules/"
        var rules: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: Repository.root + folder)
        where name.hasSuffix(".yaml") {
            rules[name] = try Repository.text(folder + name)
        }
        return rules
    }

    /// Sets the counter of the journal to numbers that no table uses.
    private static func countEntries(_ database: TestDatabase) async throws {
        switch database.kind {
        case .mariadb: try await database.runOnJournal("ALTER TABLE entries AUTO_INCREMENT = 900001;")
        case .sqlite: try await database.runOnJournal("INSERT INTO sqlite_sequence VALUES ('entries', 900000);")
        }
    }

    // MARK: Tokens

    /// The token that may do everything, and two more.
    static let office = "office-token"
    static let clerk = "clerk-token"
    static let reader = "reader-token"

    private static let tokens = """
        office read,write,operator sha256:736335b7477b56e8c7e85f5a2ce72217ba61c2ccdc1e88b439cbbb046d87a14b
        clerk read,write,operator sha256:6928eb94c15cb00c92def9c21d106cfae70f3ecc56d8e7ff4039cb619e39e5e5
        reader read sha256:ba5005a40cf5212e4ac0190104cc127edab013294bb71279a975b27a80982d45 roles=operator
        """
}
