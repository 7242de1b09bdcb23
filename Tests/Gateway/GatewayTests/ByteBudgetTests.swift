import Foundation
import MergeCore
import MergeService
import Synchronization
import Testing
import TestSupport

@testable import Gateway

/// Memory is bounded over all requests: bodies that arrive, answers, pages.
@Suite struct ByteBudgetTests {
    @Test("A lease returns its bytes when it ends")
    func returns() {
        let budget = ByteBudget(1_000_000)
        do {
            let lease = ByteLease(budget)
            #expect(lease.take(600_000) && lease.take(400_000) && !lease.take(1))
            // Small requests fit although large bodies have filled their part.
            let small = (0..<25).map { _ in ByteLease(budget) }
            #expect(small.allSatisfy { $0.take(10_000) })
            #expect(!ByteLease(budget).take(10_000))
            let other = ByteLease(budget)
            other.force(50_000)
            #expect(budget.held == 1_300_000)
        }
        #expect(budget.held == 0)
    }

    /// Existing long answers, more than the memory permits, do not use the memory of small requests.
    @Test("Large requests leave space for small ones")
    func smallRequests() {
        let budget = ByteBudget(1_000_000)
        let answers = (0..<3).map { _ in ByteLease(budget) }
        for answer in answers { answer.settle(at: 8_000_000) }
        #expect(ByteLease(budget).take(10_000))
        #expect(!ByteLease(budget).take(100_000))
        // The lease has its reserved bytes, and the budget is full.
        #expect(answers[0].resize(to: 4_000_000) && !answers[0].resize(to: 4_000_001))
        #expect(budget.held == 20_000_000)
        for answer in answers { answer.settle(at: 0) }
        // A single answer of any length has space.
        #expect(budget.held == 0 && ByteLease(budget).take(9_000_000))
    }

    @Test("Returned bytes are free again for requests of the same size")
    func kindOfBytes() {
        let budget = ByteBudget(1_000_000)
        let full = ByteLease(budget)
        full.settle(at: 1_000_000)
        let stream = ByteLease(budget)
        for number in 0..<1_000 {
            #expect(stream.take(10_000))
            if number % 2 == 0 { stream.settle(at: 0) } else { stream.give(10_000) }
        }
        #expect(budget.held == 1_000_000 && stream.resize(to: 10_000) && stream.resize(to: 0))
        full.settle(at: 0)
        #expect(budget.held == 0)
        // A body and its answer are one request.
        let alone = ByteLease(budget)
        #expect(alone.take(900_000) && !alone.take(900_000) && alone.grow(by: 900_000))
        #expect(!ByteLease(budget).grow(by: 100_000))
    }

    @Test("Large work has a limited number of threads")
    func largeWork() async {
        let large = LargeWork(threads: 2)
        let running = Mutex((now: 0, most: 0))
        let work = { @Sendable in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            // Let the other threads run.
            for _ in 0..<100 { sched_yield() }
            running.withLock { $0.now -= 1 }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { await large.run(on: 65_536, work) } }
        }
        #expect(running.withLock { $0.most } <= 2)
        let steps = large.steps
        #expect(steps >= 50)
        await large.run(on: 65_535, work)
        #expect(large.steps == steps)
        #expect(LargeWork.takes(4_096, isPacked: true) && !LargeWork.takes(4_095, isPacked: true))
    }

    @Test("Large bodies that exceed the limit together run one after the other, until their deadline")
    func largeBodies() async throws {
        let gate = LargeGate(limit: 1_000_000)
        let most = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await gate.enter(600_000, until: .distant)
                    if gate.used > 600_000 { most.increase() }
                    await Task.yield()
                    gate.leave(600_000)
                }
                group.addTask {
                    try await gate.enter(10, until: .now)
                    gate.leave(10)
                }
            }
            try await group.waitForAll()
        }
        #expect(most.value == 0 && gate.used == 0)
        // A body larger than the whole limit runs alone. A body whose deadline has passed is refused.
        try await gate.enter(9_000_000, until: .distant)
        await #expect(throws: Problem.self) { try await gate.enter(300_000, until: .now) }
        gate.leave(9_000_000)
        #expect(gate.used == 0)
    }

    @Test("Half-sent bodies use at most the budget, and later requests may be repeated")
    func halfSentBodies() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, configure: { $0.heldBytes = 1_000_000 }
        ) { gateway async throws in
            let script = """
                import socket, sys
                head = b"POST /v1/push HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
                head += b"Content-Length: 500000\\r\\n\\r\\n"
                held = []
                for number in range(6):
                    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                    client.sendall(head + b" " * 400000)
                    held.append(client)
                held[-1].settimeout(30)
                for client in held: client.settimeout(0.5)
                statuses = []
                for client in held:
                    try: statuses.append(client.recv(65536).decode()[9:12])
                    except TimeoutError: statuses.append("held")
                print(" ".join(statuses))
                """
            let statuses = try await Shell.run(["python3", "-c", script, String(gateway.port)], input: "")
            let words = statuses.split(whereSeparator: \.isWhitespace)
            #expect(words.count { $0 == "held" } <= 2 && words.contains("503"), "\(statuses)")
            // Closed connections return their bytes.
            try await gateway.client { client async throws in
                #expect(try await client.get("/healthz").status == 200)
                var status = 503
                for _ in 0..<200 where status == 503 {
                    status = try await client.post(
                        "/v1/push", #"{"edits":[]}"# + String(repeating: " ", count: 300_000)
                    ).status
                }
                #expect(status == 200)
            }
        }
    }

    @Test("A page ends when the budget is used up, and is refused if nothing is free")
    func pages() {
        let budget = ByteBudget(1_000_000)
        let lease = ByteLease(budget)
        let page = HeldPieces(lease)
        let piece = [UInt8](repeating: 0, count: 300_000)
        #expect((0..<5).map { _ in page.take(piece) } == [.found, .found, .found, .last, .last])
        let other = HeldPieces(ByteLease(budget))
        #expect(other.take(piece) == .refused && other.wasRefused && !page.wasRefused)
        #expect(HeldPieces(ByteLease(budget)).take([1]) == .found)
        // The client has read the page.
        for _ in 0..<5 { lease.give(piece.count) }
        #expect(budget.held == 0)
    }

    private static let longPots = """
        CREATE TABLE pots (id INTEGER PRIMARY KEY, a TEXT, n INTEGER NOT NULL DEFAULT 0);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
          INSERT INTO pots (id, a) SELECT i, printf('%.*c', 200000, 'x') FROM n;
        CREATE TABLE cups (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
        INSERT INTO cups VALUES (1, 0);
        """
    private static let potRules = [
        "pots.yaml": "resource: pots\nsections:\n  pot: {table: pots, groups: {a: a, n: n}}\n",
        "cups.yaml": "resource: cups\nsections:\n  cup: {table: cups, groups: {n: n}}\n",
    ]

    @Test("Unread long answers use at most the budget: the next is refused before a write, small requests are served")
    func unreadAnswers() async throws {
        let path = "/v1/snapshot?resources=pots"
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.longPots)
        try await RunningGateway.with(
            database, rules: Self.potRules, journal: .together, configure: { $0.heldBytes = 1_000_000 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"edits":[{"resource":"pots","id":7,"changeset":{"pot":{"n":{"old":0,"new":1}}}}]}"#
                // The gateway has now stored the length of this answer.
                #expect(try await client.get("/v1/records/pots/7").status == 200)
                let script = """
                    import socket, sys
                    client = socket.socket()
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    client.connect(("127.0.0.1", int(sys.argv[1])))
                    client.sendall(b"GET " + sys.argv[2].encode() + b" HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                    client.recv(1)
                    sys.stdout.write("begun\\n")
                    sys.stdout.flush()
                    sys.stdin.read()
                    """
                let unread = try StoppedReader(["python3", "-c", script, String(gateway.port), path])
                await unread.begun()
                var status = 200
                for _ in 0..<500 where status == 200 {
                    status = try await client.get("/v1/records/pots/7").status
                }
                #expect(status == 503)
                let refused = try await client.post("/v1/push", edit)
                #expect(refused.status == 503, "\(refused.text.prefix(200))")
                #expect(try await database.run("SELECT n FROM pots WHERE id = 7;") == "0\n")
                #expect(try await client.get(path).status == 503)
                let small = edit.replacing("pots", with: "cups").replacing("pot\"", with: "cup\"").replacing(
                    "7", with: "1")
                #expect(try await client.post("/v1/push", small).status == 200)
                // The closed connection returns its bytes.
                unread.end()
                for _ in 0..<500 where status == 503 { status = try await client.post("/v1/push", edit).status }
                #expect(status == 200)
            }
        }
    }

    /// The gateway has not yet read these records, so their lengths are unknown.
    @Test("A large push of short records is accepted")
    func firstLargePush() async throws {
        let database = try await TestDatabase(
            .sqlite, mariadb: "",
            sqlite: """
                CREATE TABLE pots (id INTEGER PRIMARY KEY, a TEXT, n INTEGER NOT NULL DEFAULT 0);
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                  INSERT INTO pots (id, a) SELECT i, 'a' FROM n;
                """)
        try await RunningGateway.with(
            database, rules: Self.potRules.filter { $0.key == "pots.yaml" }, journal: .together,
            configure: { $0.heldBytes = 20_000_000 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let edits = (1...1_000).map { id in
                    #"{"resource":"pots","id":\#(id),"changeset":{"pot":{"n":{"old":0,"new":1}}}}"#
                }
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
                #expect(answer.status == 200, "\(answer.text.prefix(300))")
            }
        }
    }

    @Test("A push whose answer would be too long is refused before the commit", arguments: TestEngine.allCases)
    func longAnswers(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, configure: { $0.merge.answerBytes = 20_000 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                for number in 0..<60 {
                    try await database.run("INSERT INTO items (person, what) VALUES (1, 'thing \(number)');")
                }
                func push(_ count: Int) -> String {
                    let edits = (0..<count).map { number in
                        #"{"resource":"people","id":1,"changeset":{"person":{"points":{"old":0,"new":\#(number + 1)}}}}"#
                    }
                    return #"{"key":"k\#(count)","edits":[\#(edits.joined(separator: ","))]}"#
                }
                let long = try await client.post("/v1/push", push(100))
                #expect(long.status == 422, "\(long.text.prefix(300))")
                #expect(long.text.contains(#""retry":false"#), "\(long.text.prefix(300))")
                #expect(try await database.run("SELECT points FROM people WHERE id = 1;") == "10\n")
                let entries = try await client.get("/v1/journal").json()["entries"]?.array ?? []
                #expect(entries.map { $0["status"]?.text } == ["failed"], "one entry for the record")
                #expect(try await client.post("/v1/push", push(2)).status == 200)
            }
        }
    }

    @Test("A page ends at its limit of bytes, and the next continues")
    func limitedPages() async throws {
        let database = try await TestDatabase(
            .sqlite, mariadb: "",
            sqlite: """
                CREATE TABLE pots (id INTEGER PRIMARY KEY, a TEXT);
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                  INSERT INTO pots SELECT i, printf('%.*c', 100000, 'x') FROM n;
                """)
        let rules = ["pots.yaml": "resource: pots\nsections:\n  pot: {table: pots, groups: {a: a}}\n"]
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                var ids: [Int] = []
                var next: String? = ""
                var pages = 0
                while let after = next, pages < 20 {
                    let answer = try await client.get(
                        "/v1/records/pots?limit=500" + (after.isEmpty ? "" : "&after=\(after)"))
                    #expect(answer.body.count < PageStream.mostBytes * 2 + 1_000_000, "\(answer.body.count)")
                    let page = try answer.json()
                    ids += (page["records"]?.array ?? []).compactMap { $0["id"]?.int }
                    next = page["next"]?.text
                    pages += 1
                }
                #expect(ids == Array(1...300) && pages > 1, "\(pages) pages")
            }
        }
    }

    /// Pages of the journal as well.
    @Test("A page of the journal ends at its limit of bytes")
    func limitedJournalPages() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                try await database.runOnJournal(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
                      INSERT INTO entries (at, who, resource, record, status, outcomes, rules, entry)
                      SELECT '2026-01-01 00:00:00.000', 'w', 'people', '1', 'merged', ',applied,', 'r',
                        CAST('{"x":"' || printf('%.*c', 1000000, 'y') || '"}' AS BLOB) FROM n;
                    """)
                var numbers: [Int] = []
                var next: String? = "0"
                while let after = next {
                    let answer = try await client.get("/v1/journal?limit=1000&after=\(after)")
                    #expect(answer.body.count < 20_000_000, "\(answer.body.count)")
                    let page = try answer.json()
                    numbers += (page["entries"]?.array ?? []).compactMap { $0["number"]?.int }
                    next = page["next"]?.text
                }
                #expect(numbers == Array(1...60))
            }
        }
    }
}

/// A client process that reads the first byte of an answer and then stops.
private final class StoppedReader {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Waits until the process has the first byte.
    func begun() async {
        let file = output.fileHandleForReading
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                _ = file.availableData
                continuation.resume()
            }
        }
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
