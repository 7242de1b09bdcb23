import Foundation
package import MariaDBStore
package import RecordStore
import SQLiteStore
import Synchronization

/// The engines that the same tests run against.
package enum TestEngine: String, CaseIterable, Sendable, CustomStringConvertible {
    case mariadb
    case sqlite

    package var description: String { rawValue }
}

/// A database of one test, empty or with a schema, on one engine.
package final class TestDatabase: Sendable {
    package let kind: TestEngine
    package let url: String
    package let name: String
    private let folder: TemporaryFolder
    private let server: PrivateMariaDB?
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
            try await server.run("CREATE DATABASE \(name) CHARACTER SET utf8mb4")
            self.name = name
            self.server = server
            url = "mariadb://root@localhost/\(name)?socket=\(server.socket)"
            try await run(mariadb)
        case .sqlite:
            name = folder.path + "/db.sqlite"
            self.server = nil
            url = "sqlite:" + name
            try await run(sqlite)
        }
    }

    private init(_ other: TestDatabase, url: String) {
        kind = other.kind
        folder = other.folder
        name = other.name
        server = other.server
        self.url = url
    }

    /// The same database as another account of the server sees it.
    package func asUser(_ user: String) -> TestDatabase {
        TestDatabase(self, url: url.replacing("root@", with: user + "@"))
    }

    /// The same database behind another socket.
    package func behind(_ socket: String) -> TestDatabase {
        TestDatabase(self, url: "mariadb://root@localhost/\(name)?socket=\(socket)")
    }

    /// The sample shop.
    package static func shop(_ kind: TestEngine, server: PrivateMariaDB? = nil) async throws -> TestDatabase {
        try await TestDatabase(
            kind, mariadb: Repository.text("Samples/shop/mariadb.sql"),
            sqlite: Repository.text("Samples/shop/sqlite.sql"), server: server)
    }

    /// Runs SQL behind the gateway's back, as the legacy programs do.
    @discardableResult
    package func run(_ sql: String) async throws -> String {
        switch kind {
        case .mariadb:
            guard let server else { return "" }
            return try await server.run(sql, in: name)
        case .sqlite:
            return try await Shell.run(
                ["sqlite3", "-bail", "-separator", "\t", name], input: ".timeout 5000\n" + sql)
        }
    }

    /// The SQLite file of a journal for this database.
    package var journalFile: String { kind == .sqlite ? name + ".fieldmerge" : folder.path + "/journal.sqlite" }

    /// A session beside the gateway's, with errors printed like rows.
    package func session() throws -> SQLSession {
        switch kind {
        case .mariadb:
            try SQLSession(
                ["mariadb", "--no-defaults", "--socket=" + (server?.socket ?? ""), "-uroot", "--batch", "--unbuffered"]
                    + ["--skip-column-names", "--force", name])
        case .sqlite: try SQLSession(["sqlite3", "-separator", "\t", name])
        }
    }

    /// The schema of the journal, or its file.
    package var journalName: String { kind == .mariadb ? "fieldmerge_" + name : name + ".fieldmerge" }

    /// Where the journal is, as the command line names it.
    package var journalURL: String { (kind == .mariadb ? "same-server:" : "sqlite:") + journalName }

    /// Runs SQL on the journal's own tables, behind the gateway's back.
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
        case .mariadb: MariaDBEngine(try MariaDBConfiguration(url: url, password: nil, limits: limits))
        case .sqlite: try SQLiteEngine(path: name, journal: journal ? journalFile : nil)
        }
    }
}

extension ContinuousClock.Instant {
    /// A deadline that no test comes near.
    package static var distant: ContinuousClock.Instant { .now.advanced(by: .seconds(60)) }
}
