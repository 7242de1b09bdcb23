import Testing
import TestSupport

/// A database that stops responding, or locks rows.
@Suite(.timeLimit(.minutes(3))) struct StalledDatabaseTests {
    private static func timed(
        _ body: () async throws -> HTTPClient.Answer
    ) async throws -> (answer: HTTPClient.Answer, time: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        return (try await body(), clock.now - start)
    }

    private static func push(_ push: Ledger.Push, _ port: Int) async throws -> (
        answer: HTTPClient.Answer, time: Duration
    ) {
        try await timed { try await HTTPClient.with(port: port) { try await $0.post("/v1/push", push.body()) } }
    }

    private static func get(_ path: String, _ port: Int) async throws -> (answer: HTTPClient.Answer, time: Duration) {
        try await timed { try await HTTPClient.with(port: port) { try await $0.get(path) } }
    }

    @Test("The time limit includes all waiting")
    func requestTime() async throws {
        let server = try await PrivateMariaDB()
        let database = try await Ledger.database(.mariadb, server: server)
        let gateway = try await GatewayProcess(database, rules: Ledger.rules, options: ["--request-time", "3"])
        let pushes = (1...6).map { Ledger.Push(label: "s\($0)", account: 1 + $0 % 3, points: $0) }
        try await HTTPClient.with(port: gateway.port) { client async throws in
            #expect(try await client.post("/v1/push", pushes[0].body()).status == 200)
        }
        server.stall()
        let port = gateway.port
        let answers = try await withThrowingTaskGroup(of: (answer: HTTPClient.Answer, time: Duration).self) { group in
            for push in pushes {
                group.addTask { try await Self.push(push, port) }
            }
            // There are more requests than connections, so some wait for a connection and some for the server.
            for number in 0..<20 {
                group.addTask { try await Self.get("/v1/records/accounts?limit=\(number + 1)", port) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        server.resume()
        for (answer, time) in answers {
            #expect([503, 504].contains(answer.status), "\(answer.text)")
            #expect(time < .seconds(5), "\(time) \(answer.text)")
        }
        // Each push is sent again with its key, and has been applied once.
        try await HTTPClient.with(port: gateway.port) { client async throws in
            for push in pushes {
                var answer = try await client.post("/v1/push", push.body())
                while [503, 504, 409].contains(answer.status) {
                    answer = try await client.post("/v1/push", push.body())
                }
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: pushes))
        server.kill()
    }

    @Test("Rows locked by several holders wait no longer than those of one")
    func severalHolders() async throws {
        let database = try await Ledger.database(.mariadb)
        let gateway = try await GatewayProcess(database, rules: Ledger.rules)
        let holder = try database.session()
        try await holder.run("BEGIN; SELECT id FROM accounts WHERE id = 1 FOR UPDATE;")
        let rename = #"{"id":1,"changeset":{"account":{"name":{"old":"one","new":"uno"}}}}"#
        try await HTTPClient.with(port: gateway.port) { client async throws in
            let (answer, time) = try await Self.timed { try await client.post("/v1/merge/accounts", rename) }
            #expect(answer.status == 503 && answer.text.contains("busy"), "\(answer.text)")
            #expect(time < .seconds(7), "\(time)")
        }
        try await holder.run("COMMIT;")
        try await HTTPClient.with(port: gateway.port) { client async throws in
            #expect(try await client.post("/v1/merge/accounts", rename).status == 200)
        }
    }

    /// The first push uses all the time, so the keys of the later ones are unknown.
    @Test("Pushes of a sync after a locked row are not run", arguments: TestEngine.allCases)
    func laterPushes(_ kind: TestEngine) async throws {
        let database = try await Ledger.database(kind)
        let gateway = try await GatewayProcess(database, rules: Ledger.rules, options: ["--request-time", "2"])
        let holder = try database.session()
        try await holder.run(
            kind == .mariadb
                ? "BEGIN; SELECT id FROM accounts WHERE id = 1 FOR UPDATE;" : ".timeout 20000\nBEGIN IMMEDIATE;")
        let pushes = (1...3).map { Ledger.Push(label: "s\($0)", account: $0, points: 1).body() }
        let sync = #"{"pushes":[\#(pushes.joined(separator: ","))]}"#
        try await HTTPClient.with(port: gateway.port) { client async throws in
            let answer = try await client.post("/v1/sync", sync)
            let results = try answer.json()["results"]?.array ?? []
            #expect(results.map { $0["code"]?.int } == [503, 503, 503], "\(answer.text)")
            let codes = results.map { ($0["problem"] ?? $0["results"]?[0]?["problem"])?["code"]?.text }
            #expect(codes == ["busy", "not-run", "not-run"], "\(answer.text)")
        }
        try await holder.run("COMMIT;")
        try await HTTPClient.with(port: gateway.port) { client async throws in
            let results = try await client.post("/v1/sync", sync).json()["results"]?.array ?? []
            #expect(results.map { $0["code"]?.int } == [200, 200, 200])
        }
    }

    /// With the time of a request below the time that rows are waited for, the first counts.
    @Test("A push of a locked row is answered in time", arguments: TestEngine.allCases)
    func lockedRows(_ kind: TestEngine) async throws {
        let database = try await Ledger.database(kind)
        let gateway = try await GatewayProcess(database, rules: Ledger.rules, options: ["--request-time", "2"])
        let holder = try database.session()
        try await holder.run(
            kind == .mariadb
                ? "BEGIN; SELECT id FROM accounts WHERE id = 1 FOR UPDATE;" : ".timeout 20000\nBEGIN IMMEDIATE;")
        let port = gateway.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...12 {
                group.addTask {
                    let push = Ledger.Push(label: "h\(number)", account: 1, points: 1)
                    let (answer, time) = try await Self.push(push, port)
                    #expect(answer.status == 503, "\(answer.text)")
                    #expect(time < .seconds(4), "\(time)")
                }
            }
            try await group.waitForAll()
        }
        try await holder.run("COMMIT;")
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: []))
    }
}
