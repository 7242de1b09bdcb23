import Foundation
package import MariaDBStore
package import RecordStore
import SQLiteStore
import Synchronization

/// The engines that the same tests run against.
package enum TestEngine: String, CaseIterable, Sendable, CustomStringConvertible {
    case mariadb
    case sqlite

    /// The engines of this test run: all, or SQLite if there is no MariaDB server and none is required.
    package static let allCases: [TestEngine] = MariaDBServer.isExpected ? [.mariadb, .sqlite] : [.sqlite]

    package var description: String { rawValue }
}

/// A database of one test, empty or with a schema, on one engine.
///
/// On MariaDB the gateway and its engines connect with an account that has exactly the documented rights: SELECT,
/// INSERT, UPDATE and DELETE on each table and view, and on the journal's schema. Only setup and changes that bypass
/// the gateway run as root.
package final class TestDatabase: Sendable {
    package let kind: TestEngine
    /// The database's URL for the gateway.
    package let url: String
    package let name: String
    /// The account of `url`; empty for SQLite.
    package let account: String
    private let folder: TemporaryFolder
    private let server: PrivateMariaDB?
    /// The socket of the server; nil for SQLite.
    package var socket: String? { server?.socket }
    private static let counter = Mutex(0)

    private static func number() -> Int {
        counter.withLock { number in
            number += 1
            return number
        }
    }

    /// - Parameters:
    ///   - server: another MariaDB than the shared one.
    package init(_ kind: TestEngine, mariadb: String, sqlite: String, server: PrivateMariaDB? = nil) async throws {
        self.kind = kind
        folder = try TemporaryFolder()
        switch kind {
        case .mariadb:
            let server = if let server { server } else { try await PrivateMariaDB.shared }
            let name = "t" + String(Self.number())
            account = "gateway_" + name
            try await server.run(
                "CREATE DATABASE \(name) CHARACTER SET utf8mb4; CREATE USER \(account)@localhost;"
                    + (PrivateMariaDB.readsLog ? "GRANT REPLICATION SLAVE ON *.* TO \(account)@localhost;" : ""))
            self.name = name
            self.server = server
            url = Self.url(account, name, server.socket)
            try await run(mariadb)
        case .sqlite:
            name = folder.path + "/db.sqlite"
            account = ""
            self.server = nil
            url = "sqlite:" + name
            try await run(sqlite)
        }
    }

    private init(_ other: TestDatabase, account: String, url: String) {
        kind = other.kind
        folder = other.folder
        name = other.name
        server = other.server
        self.account = account
        self.url = url
    }

    private static func url(_ account: String, _ name: String, _ socket: String) -> String {
        "mariadb://\(account)@localhost/\(name)?socket=\(socket)"
    }

    /// The same database with another account of the server.
    package func asUser(_ user: String) -> TestDatabase {
        TestDatabase(self, account: user, url: url.replacing(account + "@", with: user + "@"))
    }

    /// The same database as root, for setup that the gateway's account cannot do.
    package var asRoot: TestDatabase {
        TestDatabase(self, account: "root", url: server.map { Self.url("root", name, $0.socket) } ?? url)
    }

    /// Another database of the server as root.
    package func neighbour(_ name: String) throws -> any RecordEngine {
        try MariaDBEngine(MariaDBConfiguration(url: Self.url("root", name, server?.socket ?? "")))
    }

    /// The same database with an account that has more than the documented rights.
    ///
    /// - Parameter right: a right on each table, such as `TRIGGER`.
    package func withRight(_ right: String) async throws -> TestDatabase {
        guard kind == .mariadb else { return self }
        let user = right.lowercased() + "_" + name
        try await server?.run("CREATE USER \(user)@localhost")
        try await grantTables("\(Self.documentedRights), \(right)", to: user)
        return asUser(user)
    }

    /// The same database through another socket.
    package func behind(_ socket: String) -> TestDatabase {
        TestDatabase(self, account: account, url: Self.url(account, name, socket))
    }

    private static let documentedRights = "SELECT, INSERT, UPDATE, DELETE"

    /// Grants an account the documented rights on each existing table and view, one by one.
    package func grantTables(to user: String) async throws {
        try await grantTables(Self.documentedRights, to: user)
    }

    private func grantTables(_ rights: String, to user: String) async throws {
        try await server?.run(
            """
            DELIMITER //
            BEGIN NOT ATOMIC
              FOR found IN (SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()) DO
                EXECUTE IMMEDIATE CONCAT('GRANT \(rights) ON `', found.TABLE_NAME, '` TO \(user)@localhost');
              END FOR;
            END//
            """, in: name)
    }

    /// The sample shop.
    package static func shop(_ kind: TestEngine, server: PrivateMariaDB? = nil) async throws -> TestDatabase {
        try await TestDatabase(
            kind, mariadb: Repository.text("Samples/shop/mariadb.sql"),
            sqlite: Repository.text("Samples/shop/sqlite.sql"), server: server)
    }

    /// Grants the gateway's account the additional right for tables without transactions that `check --grants` prints.
    package func grantTableLocks() async throws {
        try await server?.run("GRANT LOCK TABLES ON `\(name)`.* TO \(accountSQL)")
    }

    /// Runs SQL that bypasses the gateway, as legacy programs do.
    ///
    /// If it creates tables or views, the gateway's account gets its rights on them, as from an operator.
    @discardableResult
    package func run(_ sql: String) async throws -> String {
        switch kind {
        case .mariadb:
            guard let server else { return "" }
            let printed = try await server.run(sql, in: name)
            if sql.contains("CREATE ") { try await grantTables(to: "gateway_" + name) }
            return printed
        case .sqlite:
            return try await Shell.run(
                ["sqlite3", "-bail", "-separator", "\t", name], input: ".timeout 5000\n" + sql)
        }
    }

    /// The SQLite file of a journal for this database.
    package var journalFile: String { kind == .sqlite ? name + ".fieldmerge" : folder.path + "/journal.sqlite" }

    /// A session that bypasses the gateway, with errors printed like rows.
    package func session() throws -> SQLSession {
        switch kind {
        case .mariadb:
            try SQLSession(
                ["mariadb", "--no-defaults", "--socket=" + (server?.socket ?? ""), "-uroot", "--batch", "--unbuffered"]
                    + ["--skip-column-names", "--force", name])
        // A gateway also writes, so the session waits for the file.
        case .sqlite: try SQLSession(["sqlite3", "-cmd", ".timeout 20000", "-separator", "\t", name])
        }
    }

    /// The schema of the journal, or its file.
    package var journalName: String { kind == .mariadb ? "fieldmerge_" + name : name + ".fieldmerge" }

    /// The place of the journal, as the command line names it.
    package var journalURL: String { (kind == .mariadb ? "same-server:" : "sqlite:") + journalName }

    /// Runs SQL of an operator, such as a GRANT on the journal's schema.
    @discardableResult
    package func runAsOperator(_ sql: String) async throws -> String {
        try await server?.run(sql) ?? ""
    }

    /// The gateway's account as SQL spells it.
    package var accountSQL: String { "'\(account)'@'localhost'" }

    /// Runs SQL on the tables of the journal, bypassing the gateway.
    @discardableResult
    package func runOnJournal(_ sql: String) async throws -> String {
        switch kind {
        case .mariadb:
            guard let server else { return "" }
            try await server.run("CREATE DATABASE IF NOT EXISTS \(journalName)")
            return try await server.run(sql, in: journalName)
        case .sqlite:
            return try await Shell.run(
                ["sqlite3", "-bail", "-separator", "\t", journalName], input: ".timeout 5000\n" + sql)
        }
    }

    /// - Parameter journal: attaches the SQLite file of a journal.
    package func engine(
        _ limits: MariaDBConfiguration.Limits = .init(), journal: Bool = false
    ) throws -> any RecordEngine {
        switch kind {
        case .mariadb: try MariaDBEngine(MariaDBConfiguration(url: url, limits: limits))
        case .sqlite: try SQLiteEngine(path: name, journal: journal ? journalFile : nil)
        }
    }
}

extension ContinuousClock.Instant {
    /// A deadline that no test comes near.
    package static var distant: ContinuousClock.Instant { .now.advanced(by: .seconds(60)) }
}
