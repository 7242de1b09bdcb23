import RecordStore
import Testing
import TestSupport

@testable import MariaDBStore

/// The connection that reads the log: waiting, stopping, and servers that do not have its position.
@Suite(.timeLimit(.minutes(3))) struct BinlogReaderTests {
    private static let table = "CREATE TABLE t (id INT PRIMARY KEY);"

    private static func reader(
        _ world: BinlogWorld, after position: BinlogPosition, _ limits: BinlogLimits = BinlogLimits()
    ) async throws -> BinlogConnection {
        let connection = try BinlogConnection(WatchedTables([try await world.watch("t")]))
        try await connection.open(world.configuration, after: position, limits)
        return connection
    }

    /// Returns the error of opening the log; nil if it opens.
    private static func refusal(_ world: BinlogWorld, of position: BinlogPosition) async throws -> BinlogReadError? {
        let connection = try BinlogConnection(WatchedTables([try await world.watch("t")]))
        let configuration = try world.configuration
        do throws(BinlogReadError) {
            try await connection.open(configuration, after: position)
            return nil
        } catch {
            return error
        }
    }

    /// Reads until an error.
    private static func end(of reader: BinlogConnection) async -> BinlogReadError? {
        do throws(BinlogReadError) {
            while true { _ = try await reader.next() }
        } catch {
            return error
        }
    }

    @Test("An idle server sends heartbeats", .tags(.mariadb), .needsMariaDB)
    func heartbeats() async throws {
        let world = try await BinlogWorld.start(Self.table)
        let limits = BinlogLimits(heartbeat: .milliseconds(50), silenceSeconds: 5)
        let reader = try await Self.reader(world, after: try await world.position(), limits)
        let idle = [try await reader.next(), try await reader.next()]
        #expect(idle == [.idle, .idle])
        try await world.run("INSERT INTO t VALUES (1)")
        var report = BinlogReport.idle
        while report == .idle { report = try await reader.next() }
        guard case .transaction(let transaction) = report else { return }
        #expect(transaction.changes.count == 1)
        let position = try await world.position()
        #expect(transaction.gtid == position.last[3])
        await world.end()
    }

    /// Each batch with foreign changes costs a transaction, so a busy reader waits for more of them.
    @Test("A busy reader collects transactions", .tags(.mariadb), .needsMariaDB)
    func collection() async throws {
        let world = try await BinlogWorld.start(Self.table)
        let limits = BinlogLimits(heartbeat: .seconds(60), collection: .seconds(60))
        let reader = try await Self.reader(world, after: try await world.position(), limits)
        try await world.run("INSERT INTO t VALUES (1)")
        async let batch = reader.batch()
        for _ in 0..<2 { try await world.run("INSERT INTO t SELECT MAX(id) + 1 FROM t") }
        try await world.run((4...700).map { "INSERT INTO t VALUES (\($0));" }.joined())
        #expect(try await batch.count == 500, "the most transactions of a batch")
        await world.end()
    }

    @Test("A cancelled task ends a waiting reader", .tags(.mariadb), .needsMariaDB)
    func cancellation() async throws {
        let world = try await BinlogWorld.start(Self.table)
        let reader = try await Self.reader(world, after: try await world.position())
        let task = Task { await Self.end(of: reader) }
        // The reader waits as soon as the server sends its log.
        var isReading = false
        while !isReading {
            isReading = try await world.server.run("SELECT COMMAND FROM information_schema.PROCESSLIST")
                .contains("Binlog Dump")
        }
        task.cancel()
        let error = await task.value
        switch error {
        case .ended, .failed: break
        default: Issue.record("\(String(describing: error))")
        }
        // A stopped reader remains stopped.
        let second = await Self.end(of: reader)
        #expect(second == .ended)
        await world.end()
    }

    @Test("A server that ends is an error", .tags(.mariadb), .needsMariaDB)
    func endedServer() async throws {
        let world = try await BinlogWorld.start(Self.table)
        let reader = try await Self.reader(world, after: try await world.position())
        world.server.kill()
        guard case .failed(let error) = await Self.end(of: reader) else {
            Issue.record("no error of the connection")
            return
        }
        #expect(error.kind == .disconnected)
        try await world.server.start()
        let next = try await Self.reader(world, after: try await world.position())
        try await world.run("INSERT INTO t VALUES (1)")
        var changes = 0
        while changes == 0 {
            if case .transaction(let transaction) = try await next.next() { changes += transaction.changes.count }
        }
        await world.end()
    }

    /// A server that is silent for longer than its heartbeats is cut off.
    @Test("A silent server is an error", .tags(.mariadb), .needsMariaDB)
    func silentServer() async throws {
        let world = try await BinlogWorld.start(Self.table)
        let limits = BinlogLimits(heartbeat: .milliseconds(100), silenceSeconds: 1)
        let reader = try await Self.reader(world, after: try await world.position(), limits)
        let first = try await reader.next()
        #expect(first == .idle)
        world.server.stall()
        guard case .failed(let error) = await Self.end(of: reader) else {
            Issue.record("no error of the connection")
            return
        }
        #expect(error.kind == .disconnected)
        world.server.resume()
        await world.end()
    }

    @Test("Positions that a server does not have are reported", .tags(.mariadb), .needsMariaDB)
    func missingPosition() async throws {
        let world = try await BinlogWorld.start(Self.table)
        let old = try await world.position()
        func isUnusable(_ position: BinlogPosition) async throws -> Bool {
            if case .unusablePosition = try await Self.refusal(world, of: position) { true } else { false }
        }
        // The future: a server that was restored from a backup.
        var future = old
        future.advance(to: BinlogGTID(domain: 3, server: 7, sequence: 1_000_000))
        let lacksFuture = try await isUnusable(future)
        #expect(lacksFuture)
        try await world.run("INSERT INTO t VALUES (1)")
        try await world.server.run("FLUSH BINARY LOGS")
        try await world.run("INSERT INTO t VALUES (2)")
        let last = try await world.server.run("SHOW BINARY LOGS").split(separator: "\n").last?.split(separator: "\t")
            .first
        try await world.server.run("PURGE BINARY LOGS TO '\(try #require(last))'")
        let lacksPurged = try await isUnusable(old)
        #expect(lacksPurged)
        let now = try await world.position()
        try await world.server.run("RESET MASTER")
        try await world.run("INSERT INTO t VALUES (3)")
        let lacksReset = try await isUnusable(now)
        #expect(lacksReset)
        await world.end()
    }

    @Test("A reader without its right is an error", .tags(.mariadb), .needsMariaDB)
    func missingRight() async throws {
        let world = try await BinlogWorld.start(Self.table)
        try await world.server.run("REVOKE REPLICATION SLAVE ON *.* FROM \(world.database.accountSQL)")
        guard case .failed(let error) = try await Self.refusal(world, of: try await world.position()) else {
            Issue.record("no error")
            return
        }
        #expect(error.kind == .denied)
        await world.end()
    }
}
