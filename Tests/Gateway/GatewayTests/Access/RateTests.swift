import MergeCore
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Clients over their rate, and the other clients.
@Suite struct RateTests {
    @Test("A bucket contains the requests of one second")
    func bucket() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 10, now: start)
        for _ in 0..<10 { #expect(bucket.take(1, at: start) == nil) }
        #expect(bucket.take(1, at: start) == 1)
        #expect(bucket.take(1, at: start.advanced(by: .milliseconds(100))) == nil)
        #expect(bucket.take(1, at: start.advanced(by: .milliseconds(150))) == 1)
        #expect(bucket.isFull(at: start.advanced(by: .seconds(2))))
        #expect(bucket.take(11, at: start.advanced(by: .seconds(60))) == nil, "it holds no more than it held")
        #expect(bucket.take(1, at: start.advanced(by: .seconds(60))) == 1)
    }

    @Test("A large push needs a full bucket")
    func largePush() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 10, now: start)
        #expect(bucket.take(1, at: start) == nil)
        #expect(bucket.take(35, at: start) == 1)
        let full = start.advanced(by: .seconds(1))
        #expect(bucket.take(35, at: full) == nil)
        // The bucket owes the excess of the large push.
        #expect(bucket.take(1, at: full) == 3)
        #expect(bucket.take(1, at: full.advanced(by: .milliseconds(2_500))) == 1)
        #expect(bucket.take(1, at: full.advanced(by: .milliseconds(2_700))) == nil)
    }

    @Test("Many clients need limited memory, and the newest ones are still limited")
    func manyClients() throws {
        let rates = ClientRates(requestsPerSecond: 1, editsPerSecond: nil, share: nil)
        let start = ContinuousClock.now
        for index in 0..<30_000 { try rates.request(of: "\(index)", at: start.advanced(by: .milliseconds(index))) }
        #expect(throws: Problem.self) { try rates.request(of: "29999", at: start.advanced(by: .milliseconds(29_999))) }
    }

    /// The names are equal by Swift's comparison of strings, but not by their bytes.
    @Test("Clients are distinguished by the bytes of their names")
    func bytes() throws {
        let rates = ClientRates(requestsPerSecond: 1, editsPerSecond: nil, share: nil)
        let now = ContinuousClock.now
        try rates.request(of: "\u{E9}", at: now)
        try rates.request(of: "e\u{301}", at: now)
        #expect(throws: Problem.self) { try rates.request(of: "\u{E9}", at: now) }
    }

    @Test("One client has a limited share of the queue")
    func share() throws {
        let rates = ClientRates(requestsPerSecond: nil, editsPerSecond: nil, share: 2)
        try rates.beginPush(of: "a")
        try rates.beginPush(of: "a")
        #expect(throws: Problem.self) { try rates.beginPush(of: "a") }
        try rates.beginPush(of: "b")
        rates.endPush(of: "a")
        try rates.beginPush(of: "a")
        #expect(throws: Problem.self) { try rates.beginPush(of: "a") }
    }

    private static func database() async throws -> TestDatabase {
        try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
    }

    @Test("A client over its rate does not slow down another")
    func otherClients() async throws {
        let (greedy, quiet) = (AccessToken.make(), AccessToken.make())
        let lines = [greedy.line(name: "g", rights: [.read, .write]), quiet.line(name: "q", rights: [.read, .write])]
        try await RunningGateway.with(
            try await Self.database(), rules: MergeTests.rules, tokens: lines.joined(separator: "\n"),
            configure: { $0.requestsPerSecond = 5 }
        ) { gateway async throws in
            try await gateway.client(token: greedy.secret) { client async throws in
                var last = try await client.get("/v1/rules")
                while last.status == 200 { last = try await client.get("/v1/rules") }
                #expect(last.status == 429 && last.headers["retry-after"] == "1")
                let problem = try last.json()
                #expect(problem["code"]?.text == "over-rate" && problem["retry"]?.bool == true)
                // The limit applies before the body is read, and after the token.
                var nonsense = try await client.post("/v1/push", "nonsense")
                while nonsense.status == 415 || nonsense.status == 400 {
                    nonsense = try await client.post("/v1/push", "nonsense")
                }
                #expect(nonsense.status == 429)
                #expect(try await client.get("/healthz").status == 200)
                // While one client continues, the other gets its full rate.
                let isOver = Flag()
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<3 {
                        group.addTask {
                            try await gateway.client(token: greedy.secret) { client async throws in
                                var wasRefused = false
                                while !isOver.isRaised || !wasRefused {
                                    if try await client.get("/v1/rules").status == 429 { wasRefused = true }
                                }
                                return wasRefused
                            }
                        }
                    }
                    try await gateway.client(token: quiet.secret) { neighbour async throws in
                        for _ in 0..<5 { #expect(try await neighbour.get("/v1/rules").status == 200) }
                    }
                    isOver.raise()
                    for try await wasRefused in group { #expect(wasRefused) }
                }
                try await gateway.client { client async throws in
                    #expect(try await client.get("/v1/rules").status == 401)
                }
            }
        }
    }

    /// Nothing is kept under the key of a push that was refused.
    @Test("A push over the rate can be repeated")
    func repeated() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, configure: { $0.editsPerSecond = 1 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                func push(_ key: String, _ count: Int) -> String {
                    let edit = #"{"resource":"people","id":1,"changeset":{"person":{"points":{"old":1,"new":2}}}}"#
                    let edits = Array(repeating: edit, count: count).joined(separator: ",")
                    return "{\"key\":\"\(key)\",\"edits\":[\(edits)]}"
                }
                let large = try await client.post("/v1/push", push("large", 4))
                #expect(large.status == 200, "\(large.text)")
                let before = try await database.run("SELECT points FROM people WHERE id = 1;")
                let refused = try await client.post("/v1/push", push("k", 1))
                #expect(refused.status == 429 && (Int(refused.headers["retry-after"] ?? "") ?? 0) >= 2)
                #expect(try await database.run("SELECT points FROM people WHERE id = 1;") == before)
                var again = refused
                while again.status == 429 { again = try await client.post("/v1/push", push("k", 1)) }
                #expect(again.status == 200 && again.headers["idempotent-replayed"] == nil, "\(again.text)")
            }
        }
    }
}
