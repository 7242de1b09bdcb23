import MergeCore
import MergeService
import Testing
import TestSupport

@testable import Gateway

/// Memory is bounded over all requests: bodies that arrive, answers, pages.
@Suite struct ByteBudgetTests {
    @Test func whatIsHeldGoesBack() {
        let budget = ByteBudget(1_000_000)
        do {
            let lease = ByteLease(budget)
            #expect(lease.take(600_000) && lease.take(400_000) && !lease.take(1))
            // Whoever holds large bodies leaves room for small ones.
            let small = (0..<25).map { _ in ByteLease(budget) }
            #expect(small.allSatisfy { $0.take(10_000) })
            #expect(!ByteLease(budget).take(10_000))
            let other = ByteLease(budget)
            other.force(50_000)
            #expect(budget.held == 1_300_000)
        }
        #expect(budget.held == 0)
    }

    /// Large bodies are worked on one after the other where they are too large for each other, and wait no longer than
    /// their time.
    @Test func largeBodiesTakeTurns() async throws {
        let gate = LargeGate(limit: 1_000_000)
        let most = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await gate.pass(600_000, until: .distant) {
                        if gate.used > 600_000 { most.increase() }
                        await Task.yield()
                    }
                }
                group.addTask { try await gate.pass(10, until: .now) {} }
            }
            try await group.waitForAll()
        }
        #expect(most.value == 0 && gate.used == 0)
        // One that is larger than there is room for at all runs alone; who comes too late is told so.
        try await gate.pass(9_000_000, until: .distant) {
            await #expect(throws: Problem.self) { try await gate.pass(300_000, until: .now) {} }
        }
        #expect(gate.used == 0)
    }

    /// Half-sent bodies hold no more than the budget; who comes after is told to come again.
    @Test func halfSentBodiesAreBounded() async throws {
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
            // With their connections what they held is gone.
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

    /// An answer that would be too long is told before anything is committed.
    @Test(arguments: TestEngine.allCases) func longAnswersAreRefusedBeforeTheCommit(_ kind: TestEngine) async throws {
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
                #expect(long.status == 413, "\(long.text.prefix(300))")
                #expect(try await database.run("SELECT points FROM people WHERE id = 1;") == "10\n")
                #expect(try await client.get("/v1/journal").json()["entries"]?.array.isEmpty == true)
                #expect(try await client.post("/v1/push", push(2)).status == 200)
            }
        }
    }

    /// A page ends where its bytes do, and the next goes on.
    @Test func pagesEndWithTheirBytes() async throws {
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
    @Test func journalPagesEndWithTheirBytes() async throws {
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
