import MergeCore
import RecordStore
import Synchronization
import Testing
import TestSupport

/// Statements that are sent before earlier ones are answered.
@Suite struct PipelineTests {
    private static let mariadb =
        "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, note LONGTEXT NULL) ENGINE=InnoDB;"
    private static let sqlite = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT NOT NULL, note TEXT NULL);"
    private static let text = ColumnType.text(TextType())

    private static func open(_ kind: TestEngine) async throws -> (database: TestDatabase, engine: any RecordEngine) {
        let database = try await TestDatabase(kind, mariadb: mariadb, sqlite: sqlite)
        return (database, try database.engine())
    }

    private static func number(_ number: Int) -> Bind { Bind(.integer(Int128(number)), JournalColumn.number.type) }

    private static func insert(_ id: Int, _ note: String? = nil) -> Statement {
        Statement(
            sql: "INSERT INTO t VALUES (?, 0, ?)",
            binds: [number(id), Bind(note.map { .text(ExactText($0)) } ?? .null, text)])
    }

    private static func set(_ id: Int, _ value: Int) -> Statement {
        Statement(sql: "UPDATE t SET n = ? WHERE id = ?", binds: [number(value), number(id)])
    }

    private static func get(from first: Int, to last: Int) -> Statement {
        Statement(
            sql: "SELECT id, n FROM t WHERE id BETWEEN ? AND ? ORDER BY id", binds: [number(first), number(last)],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    private static let notes = Statement(
        sql: "SELECT note FROM t ORDER BY id", binds: [], columns: [Column(name: "note", type: text, isNullable: true)])

    /// Runs statements and gathers the rows of each.
    private static func run(_ session: any StoreSession, _ statements: [Statement]) throws(StoreError) -> [[[Value]]] {
        var left = statements[...]
        var answers: [[[Value]]] = []
        try session.run({ left.popFirst() }) { answers.append($0) }
        return answers
    }

    private static func pairs(_ rows: [[Value]]) -> [[Int]] {
        rows.map { row in row.map { if case .integer(let number) = $0 { Int(number) } else { -1 } } }
    }

    @Test("Each statement has its answer", arguments: TestEngine.allCases)
    func answers(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        let answers = try await engine.write(deadline: .distant) { session throws(StoreError) in
            // The same texts again and again, writes and reads in any order, and some for the first time.
            let inserts = (1...300).map { Self.insert($0) }
            let rest = (1...100).flatMap { [Self.set($0, $0 * 7), Self.get(from: $0, to: $0 + 1)] }
            return .commit(try Self.run(session, inserts + rest))
        }
        #expect(answers.count == 500)
        #expect(answers.prefix(300).map(\.count) == Array(repeating: 0, count: 300))
        for id in 1...100 {
            #expect(answers[300 + (id - 1) * 2].isEmpty)
            #expect(Self.pairs(answers[301 + (id - 1) * 2]) == [[id, id * 7], [id + 1, 0]])
        }
        #expect(try await database.run("SELECT COUNT(*), SUM(n) FROM t") == "300\t\(5050 * 7)\n")
        await engine.close()
    }

    @Test("Answers can be read in any order", arguments: TestEngine.allCases)
    func anyOrder(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            let writes = (1...20).map { session.send(Self.insert($0)) }
            let twice = session.send(Self.insert(20))
            let reads = (1...20).map { session.send(Self.get(from: $0, to: $0)) }
            for (id, ticket) in zip(1..., reads).reversed() {
                let rows = try session.receive(ticket)
                #expect(Self.pairs(rows) == [[id, 0]])
            }
            let between = try session.query(Self.get(from: 3, to: 4))
            #expect(Self.pairs(between) == [[3, 0], [4, 0]])
            for ticket in writes.shuffled() {
                let rows = try session.receive(ticket)
                #expect(rows == [])
            }
            for (ticket, isConstraint) in [(twice, true), (twice, false), (reads[0], false)] {
                do throws(StoreError) {
                    _ = try session.receive(ticket)
                    Issue.record("an answer twice, or none of a refusal")
                } catch {
                    let isRefusal = if case .constraint = error.kind { true } else { false }
                    #expect(isRefusal == isConstraint)
                }
            }
            return .commit(())
        }
        #expect(try await database.run("SELECT COUNT(*) FROM t") == "20\n")
        await engine.close()
    }

    /// A statement without an answer may have been refused, so it is not committed.
    @Test("No transaction is committed before all answers", arguments: TestEngine.allCases)
    func unanswered(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        let error = await #expect(throws: StoreError.self) {
            try await engine.write(deadline: .distant) { session throws(StoreError) in
                _ = session.send(Self.insert(1))
                return .commit(())
            }
        }
        #expect(error?.kind == .other)
        _ = try await engine.write(deadline: .distant) { session throws(StoreError) in
            .commit(try session.receive(session.send(Self.insert(2))))
        }
        #expect(try await database.run("SELECT id FROM t") == "2\n")
        await engine.close()
    }

    /// Rows of megabytes arrive while statements of megabytes are sent.
    ///
    /// Neither side blocks the other.
    @Test("Long statements and long rows do not block each other", arguments: TestEngine.allCases)
    func longStatementsAndLongRows(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        let long = String(repeating: "0123456789abcdef", count: 100_000)
        let answers = try await engine.write(deadline: .distant) { session throws(StoreError) in
            .rollback(
                try Self.run(
                    session,
                    [
                        Self.insert(1, long), Self.insert(2, long), Self.notes, Self.notes, Self.insert(3, long),
                        Self.notes, Self.insert(4, long), Self.insert(5, long), Self.notes,
                    ]))
        }
        #expect(answers.map(\.count) == [0, 0, 2, 2, 0, 3, 0, 0, 5])
        #expect(answers[8] == Array(repeating: [.text(ExactText(long))], count: 5))
        await engine.close()
    }

    /// Hundreds of statements are sent before the rows of the first are read.
    @Test("Many statements can follow unread rows", arguments: TestEngine.allCases, [10, 20_000])
    func unreadRows(_ kind: TestEngine, _ length: Int) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        let text = String(repeating: "x", count: length)
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            _ = try session.execute(Self.insert(1, String(repeating: "0123456789abcdef", count: 100_000)))
            let notes = session.send(Self.notes)
            let writes = (2...300).map { session.send(Self.insert($0, text)) }
            let count = session.send(Self.get(from: 1, to: 300))
            for ticket in writes.reversed() { _ = try session.receive(ticket) }
            let counted = try session.receive(count)
            #expect(counted.count == 300)
            let read = try session.receive(notes)
            #expect(read.count == 1)
            return .rollback(())
        }
        await engine.close()
    }

    /// The session can be used further, and nothing of the statement is stored.
    @Test("The first refusal is reported once", arguments: TestEngine.allCases, 0..<6)
    func refusal(_ kind: TestEngine, at place: Int) async throws {
        let (database, engine) = try await Self.open(kind)
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            var statements = [
                Self.insert(1), Self.get(from: 1, to: 9), Self.insert(2), Self.set(1, 4), Self.get(from: 1, to: 9),
                Self.get(from: 1, to: 9),
            ]
            statements.insert(Self.insert(1), at: max(place, 1))
            var taken = 0
            var refusal: StoreError?
            var left = statements[...]
            do throws(StoreError) {
                try session.run({ left.popFirst() }) { _ in taken += 1 }
            } catch {
                refusal = error
            }
            #expect(taken == max(place, 1))
            guard case .constraint(let violation)? = refusal?.kind else {
                Issue.record("\(String(describing: refusal))")
                return .rollback(())
            }
            #expect(violation.kind == .unique)
            // The transaction and its statements can still be used.
            let row = try session.query(Self.get(from: 1, to: 1))
            #expect(row.count == 1)
            let after = try Self.run(session, [Self.insert(7), Self.get(from: 7, to: 7)])
            #expect(after[1].count == 1)
            return .rollback(())
        }
        #expect(try await database.run("SELECT COUNT(*) FROM t") == "0\n")
        await engine.close()
    }

    @Test("A reader may stop early", arguments: TestEngine.allCases)
    func stopped(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            _ = try Self.run(session, (1...50).map { Self.insert($0) })
            var next = 0
            var error: StoreError?
            do throws(StoreError) {
                try session.run({
                    next += 1
                    return next <= 50 ? Self.get(from: next, to: 50) : nil
                }) { rows throws(StoreError) in
                    if rows.count == 45 { throw StoreError(.tooLarge, "enough") }
                }
            } catch let caught {
                error = caught
            }
            #expect(error?.kind == .tooLarge)
            #expect(next < 12)
            let last = try session.query(Self.get(from: 50, to: 50))
            #expect(Self.pairs(last) == [[50, 0]])
            return .rollback(())
        }
        await engine.close()
    }

    /// The ends of a series of transactions in the order of their reports.
    private final class EndLog: Sendable {
        private let ends = Mutex<[String]>([])

        var all: [String] { ends.withLock { $0 } }

        func note(_ work: Int, _ result: Result<[[Int]], StoreError>) {
            ends.withLock { ends in
                switch result {
                case .success(let rows): ends.append("\(work) read \(rows.map { $0[1] })")
                case .failure(let error): ends.append("\(work) \(error.kind)")
                }
            }
        }
    }

    /// Returns the numbers from 1 on.
    private static func numbers(to last: Int) -> @Sendable () -> Int? {
        let next = Mutex(0)
        return {
            next.withLock { next in
                next += 1
                return next <= last ? next : nil
            }
        }
    }

    /// Runs the transactions one after the other, on one connection if possible.
    private static func series(
        _ engine: any RecordEngine, next: @escaping @Sendable () -> Int?,
        done: @escaping @Sendable (Int, Result<[[Int]], StoreError>) -> Void,
        _ body: @escaping @Sendable (Int, any StoreSession) throws(StoreError) -> Ending<[[Int]]>
    ) async throws(StoreError) {
        while try await engine.withConnection(
            for: .write, deadline: .distant, { runSome(on: $0, next: next, done: done, body) })
        {}
    }

    /// - Returns: false if no transaction is left.
    private static func runSome(
        on connection: any StoreConnection, next: () -> Int?, done: (Int, Result<[[Int]], StoreError>) -> Void,
        _ body: (Int, any StoreSession) throws(StoreError) -> Ending<[[Int]]>
    ) -> Bool {
        repeat {
            guard let work = next() else { return false }
            do throws(StoreError) {
                let rows = try connection.write(locking: []) { session throws(StoreError) in try body(work, session) }
                done(work, .success(rows))
            } catch {
                done(work, .failure(error))
            }
        } while connection.isExclusive && connection.isUsable
        return true
    }

    @Test("Transactions follow each other", arguments: TestEngine.allCases)
    func series(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        try await database.run("INSERT INTO t VALUES (1, 0, NULL)")
        let ends = EndLog()
        try await Self.series(
            engine, next: Self.numbers(to: 20), done: { ends.note($0, $1) }
        ) { work, session throws(StoreError) in
            let rows = Self.pairs(try Self.run(session, [Self.get(from: 1, to: 1)])[0])
            #expect(ends.all.count == work - 1, "the one before is answered first")
            if work % 5 == 0 { throw StoreError(.other, "no") }
            _ = try Self.run(session, [Self.set(1, work)])
            return work % 3 == 0 ? .rollback(rows) : .commit(rows)
        }
        // Each transaction reads the values of the last committed one.
        var held = 0
        var expected: [String] = []
        for work in 1...20 {
            expected.append(work % 5 == 0 ? "\(work) other" : "\(work) read [\(held)]")
            if work % 5 != 0, work % 3 != 0 { held = work }
        }
        #expect(ends.all == expected)
        #expect(try await database.run("SELECT n FROM t") == "19\n")
        await engine.close()
    }

    @Test("A refused COMMIT is reported, and affects no other transaction", .tags(.mariadb), .needsMariaDB)
    func refusedCommit() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(
            .mariadb, mariadb: Self.mariadb + "INSERT INTO t VALUES (1, 0, NULL);", sqlite: "", server: server)
        let engine = try database.engine()
        let ends = EndLog()
        let hasWritten = AsyncStream<Void>.makeStream()
        let isReadOnly = Flag()
        let mayGoOn = Flag()
        let series = Task {
            try await Self.series(
                engine, next: Self.numbers(to: 4),
                done: { work, result in ends.note(work, result) }
            ) { work, session throws(StoreError) in
                if work == 2 { while !mayGoOn.isRaised { continue } }
                let rows = Self.pairs(try Self.run(session, [Self.get(from: 1, to: 1)])[0])
                _ = try Self.run(session, [Self.set(1, work * 11)])
                if work == 1 {
                    hasWritten.continuation.finish()
                    while !isReadOnly.isRaised { continue }
                }
                return .commit(rows)
            }
        }
        for await _ in hasWritten.stream {}
        try await database.run("SET GLOBAL read_only = 1")
        isReadOnly.raise()
        while ends.all.isEmpty { await Task.yield() }
        try await database.run("SET GLOBAL read_only = 0")
        mayGoOn.raise()
        try await series.value
        #expect(ends.all == ["1 unwritable", "2 read [0]", "3 read [22]", "4 read [33]"])
        #expect(try await database.run("SELECT n FROM t") == "44\n")
        await engine.close()
        server.kill()
    }
}
