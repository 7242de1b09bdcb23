import RecordStore
import SQLiteStore
import Testing
import TestSupport

/// A SQLite file that other programs write to.
@Suite(.timeLimit(.minutes(3))) struct BusyFileTests {
    /// The program locks the file for longer than a transaction waits.
    @Test("A gateway starts when the file is free")
    func start() async throws {
        let database = try await Ledger.database(.sqlite)
        try await database.runOnJournal("PRAGMA user_version = 0;")
        let holder = try database.session()
        try await holder.run("BEGIN EXCLUSIVE;")
        // The program locks the file for this time. The test does not wait.
        async let release = holder.run(".shell sleep 7\nCOMMIT;")
        let gateway = try await GatewayProcess(database, rules: Ledger.rules)
        _ = try await release
        let push = Ledger.Push(label: "s", account: 1, points: 1)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            var answer = try await client.post("/v1/push", push.body())
            while answer.status == 503 { answer = try await client.post("/v1/push", push.body()) }
            #expect(answer.status == 200, "\(answer.text)")
        }
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [push]))
    }

    @Test("A file that remains locked is reported in time")
    func busyFile() async throws {
        let database = try await Ledger.database(.sqlite)
        let holder = try database.session()
        try await holder.run("BEGIN EXCLUSIVE;")
        #expect(throws: StoreError.self) {
            _ = try SQLiteEngine(path: database.name, busySeconds: 0.05, startSeconds: 0.1)
        }
        holder.end()
    }

    @Test("Other programs can write while a gateway always has work")
    func otherPrograms() async throws {
        let database = try await Ledger.database(.sqlite)
        try await database.run("CREATE TABLE legacy (n INTEGER); INSERT INTO legacy VALUES (0);")
        let gateway = try await GatewayProcess(database, rules: Ledger.rules)
        let port = gateway.port
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await HTTPClient.with(port: port) { client async throws in
                        var pushes = 0
                        while !isOver.isRaised {
                            pushes += 1
                            let push = Ledger.Push(label: "\(number).\(pushes)", account: 1, points: 0)
                            let answer = try await client.post("/v1/push", push.body())
                            #expect(answer.status == 200, "\(answer.text)")
                        }
                        #expect(pushes > 0)
                    }
                }
            }
            group.addTask {
                defer { isOver.raise() }
                // Each waits for five seconds at most.
                let statements = repeatElement("UPDATE legacy SET n = n + 1;", count: 100).joined(separator: "\n")
                let start = ContinuousClock.now
                try await database.run(statements)
                #expect(ContinuousClock.now - start < .seconds(30))
            }
            try await group.waitForAll()
        }
        #expect(try await database.run("SELECT n FROM legacy;") == "100\n")
        withExtendedLifetime(gateway) {}
    }
}
