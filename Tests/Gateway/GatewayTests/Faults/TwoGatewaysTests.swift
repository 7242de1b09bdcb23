import Testing
import TestSupport

/// Two gateways on one MariaDB database get the same pushes at once.
@Suite(.timeLimit(.minutes(5))) struct TwoGatewaysTests {
    private static let rounds = 12

    @Test("Two processes apply a push once", .tags(.mariadb), .needsMariaDB)
    func twoProcesses() async throws {
        let database = try await Ledger.database(.mariadb)
        let one = try await GatewayProcess(database, rules: Ledger.rules)
        let two = try await GatewayProcess(database, rules: Ledger.rules)
        try await Self.race([one.port, two.port], database)
    }

    @Test("Two gateways in one process apply a push once", .tags(.mariadb), .needsMariaDB)
    func oneProcess() async throws {
        try await Self.withTwo { ports, database in try await Self.race(ports, database) }
    }

    private static func withTwo(
        _ body: @escaping @Sendable ([Int], TestDatabase) async throws -> Void
    ) async throws {
        let database = try await Ledger.database(.mariadb)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { one async throws in
            try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { two async throws in
                try await body([one.port, two.port], database)
            }
        }
    }

    private static func race(_ ports: [Int], _ database: TestDatabase) async throws {
        var pushes: [Ledger.Push] = []
        for round in 0..<rounds {
            let push = Ledger.Push(label: "r\(round)", account: 1 + round % Ledger.accounts, points: round)
            pushes.append(push)
            let answers = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                for port in ports + ports + ports { group.addTask { try await send(push, port) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let settled = answers.filter { $0.status == 200 }
            #expect(Set(settled.map(\.body)).count == 1, "\(answers.map(\.text))")
            #expect(settled.count { $0.headers["idempotent-replayed"] == nil } == 1)
            for answer in answers where answer.status != 200 { try expectInProgress(answer) }
        }
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: pushes))
    }

    @Sendable private static func send(_ push: Ledger.Push, _ port: Int) async throws -> HTTPClient.Answer {
        try await HTTPClient.with(port: port) { try await $0.post("/v1/push", push.body()) }
    }

    private static func expectInProgress(_ answer: HTTPClient.Answer) throws {
        #expect(answer.status == 409, "\(answer.text)")
        #expect(try answer.json()["code"]?.text == "in-progress")
        #expect(try answer.json()["retry"]?.bool == true)
        #expect(answer.headers["retry-after"] != nil)
    }

    /// Another program locks the row.
    ///
    /// A repeated push gets the answer that it runs, or waits.
    @Test("A push that waits is applied once", .tags(.mariadb), .needsMariaDB)
    func waitingPush() async throws {
        try await Self.withTwo { ports, database in
            let push = Ledger.Push(label: "w", account: 1, points: 3)
            let holder = try database.session()
            try await holder.run("BEGIN; SELECT id FROM accounts WHERE id = 1 FOR UPDATE;")
            let answers = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                for port in [ports[0], ports[0], ports[1]] { group.addTask { try await Self.send(push, port) } }
                var answers: [HTTPClient.Answer] = []
                while let answer = try await group.next() {
                    // While the row is locked, only the second push in the same gateway can have an answer.
                    if answers.isEmpty {
                        try Self.expectInProgress(answer)
                        try await holder.run("COMMIT;")
                    }
                    answers.append(answer)
                }
                return answers
            }
            #expect(answers.map(\.status) == [409, 200, 200])
            #expect(answers[1].body == answers[2].body)
            for port in ports { #expect(try await Self.send(push, port).body == answers[1].body) }
            #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [push]))
        }
    }

    /// A stored answer does not need the tables any more.
    @Test("A known key is answered if the push could not run", .tags(.mariadb), .needsMariaDB)
    func knownKey() async throws {
        try await Self.withTwo { ports, database in
            let push = Ledger.Push(label: "k", account: 1, points: 3)
            let first = try await Self.send(push, ports[0])
            #expect(first.status == 200, "\(first.text)")
            try await database.run("ALTER TABLE accounts RENAME COLUMN town TO city;")
            for port in ports {
                let again = try await Self.send(push, port)
                #expect(again.status == 200, "\(again.text)")
                #expect(again.body == first.body)
            }
            let other = try await HTTPClient.with(port: ports[0]) { client async throws in
                try await client.post("/v1/push", push.body().replacing("\"street\":\"k\"", with: "\"street\":\"o\""))
            }
            #expect(try other.json()["code"]?.text == "key-reused", "\(other.text)")
            #expect(try await Self.send(Ledger.Push(label: "n", account: 1, points: 1), ports[0]).status == 503)
        }
    }
}
