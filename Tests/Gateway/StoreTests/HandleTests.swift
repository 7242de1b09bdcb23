@testable import MariaDBStore
import RecordStore
import Testing
import TestSupport

/// A handle of the C library is closed on the thread that opened it, for every end of its connection.
@Suite(.timeLimit(.minutes(2))) struct HandleTests {
    private static func open() async throws -> (database: TestDatabase, pool: ConnectionPool) {
        let table = "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;"
        let database = try await TestDatabase(.mariadb, mariadb: table, sqlite: "")
        return (database, ConnectionPool(try MariaDBConfiguration(url: database.url)))
    }

    /// Opens connections at the same time, each with a prepared statement, and releases them.
    private static func use(_ count: Int, _ pool: ConnectionPool) async throws(StoreError) -> [ConnectionHealth] {
        guard count > 0 else { return [] }
        return try await pool.withConnection(for: .snapshot, deadline: .distant) {
            connection async throws(StoreError) in
            _ = try await connection.lend(for: .snapshot) { lent throws(StoreError) in
                try lent.read { session throws(StoreError) in
                    try session.query(Statement(sql: "SELECT id FROM t", binds: [], columns: [JournalColumn.number]))
                }
            }
            return [connection.health] + (try await use(count - 1, pool))
        }
    }

    @Test("Idle connections are closed when one breaks", .tags(.mariadb), .needsMariaDB)
    func broken() async throws {
        let (database, pool) = try await Self.open()
        let used = try await Self.use(4, pool)
        #expect(used.count == 4 && used.allSatisfy { $0.closing == nil })
        let kills = try await database.run(
            "SELECT CONCAT('KILL ', ID, ';') FROM information_schema.PROCESSLIST WHERE USER = '\(database.account)'")
        #expect(kills.split(separator: "\n").count == 4)
        try await database.run(kills)
        await #expect(throws: StoreError.self) {
            try await pool.withConnection(for: .snapshot, deadline: .distant) { connection async throws(StoreError) in
                try await connection.lend(for: .snapshot) { lent throws(StoreError) in try lent.ping() }
            }
        }
        #expect(used.map(\.closing) == Array(repeating: .onItsThread, count: 4))
        await pool.close()
    }

    @Test("Idle connections are closed with the pool", .tags(.mariadb), .needsMariaDB)
    func closedPool() async throws {
        let (database, pool) = try await Self.open()
        defer { withExtendedLifetime(database) {} }
        let used = try await Self.use(3, pool)
        await pool.close()
        #expect(used.map(\.closing) == Array(repeating: .onItsThread, count: 3))
    }

    @Test("A connection that is released after the end is closed", .tags(.mariadb), .needsMariaDB)
    func lateRelease() async throws {
        let (database, pool) = try await Self.open()
        defer { withExtendedLifetime(database) {} }
        let health = try await pool.withConnection(for: .snapshot, deadline: .distant) {
            connection async throws(StoreError) in
            await pool.close()
            #expect(connection.health.closing == nil)
            return connection.health
        }
        #expect(health.closing == .onItsThread)
    }

    /// The pool is not closed explicitly.
    ///
    /// Its connections are closed with the last reference to it.
    @Test("Connections of an unreferenced pool are closed", .tags(.mariadb), .needsMariaDB)
    func forgottenPool() async throws {
        let database: TestDatabase
        let used: [ConnectionHealth]
        do {
            let (opened, pool) = try await Self.open()
            database = opened
            used = try await Self.use(3, pool)
        }
        while used.contains(where: { $0.closing == nil }) {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(used.map(\.closing) == Array(repeating: .onItsThread, count: 3))
        withExtendedLifetime(database) {}
    }

    // MARK: The library

    @Test(
        "Only tested versions of the library are used",
        arguments: [
            ("3.3.20", 30_320, 30_320, nil), ("3.2.7", 30_207, 30_207, nil), ("3.4.9", 30_409, 30_308, nil),
            // Older than the required version, and newer than the tested ones.
            ("3.2.6", 30_206, 30_320, "“3.2.6” cannot be used"), ("3.5.0", 30_500, 30_320, "“3.5.0” cannot be used"),
            ("4.0.0", 40_000, 30_320, "“4.0.0” cannot be used"),
            // The first versions of the library report the version of their server.
            ("10.3.39", 100_339, 30_320, "“10.3.39” cannot be used"),
            // The library of MySQL.
            ("8.0.36", 80_036, 30_320, "nor MySQL's own library"),
            ("5.7.44", 50_744, 30_320, "“5.7.44” cannot be used"),
            ("3.3.20", 30_320, 30_107, "headers of MariaDB Connector/C 3.1.7: build it again"),
            ("3.3.20", 30_320, 30_512, "headers of MariaDB Connector/C 3.5.12: build it again"),
        ])
    func libraries(_ name: String, _ running: Int, _ built: Int, _ fault: String?) {
        let library = ClientLibrary(name: name, running: running, built: built)
        do throws(StoreError) {
            try library.check()
            #expect(fault == nil)
        } catch {
            #expect(fault.map { error.message.contains($0) } ?? false, "\(error)")
        }
    }

    @Test("The installed library is a tested version")
    func installedLibrary() throws {
        let library = ClientLibrary.installed
        try library.check()
        // The name contains the version number, so it is the library's version and not a server's.
        #expect(library.name == "\(library.running / 10_000).\(library.running / 100 % 100).\(library.running % 100)")
    }
}
