import MergeService
import Testing
import TestSupport

/// The clock of the database jumps back.
///
/// Numbers decide the order of the journal, and times only the age of entries.
@Suite(.timeLimit(.minutes(5))) struct ClockTests {
    private static let pushes = (1...6).map { Ledger.Push(label: "c\($0)", account: 1, points: $0) }

    /// Keys, order and pages, once the newest entries are the oldest by their time.
    private static func prove(_ gateway: RunningGateway, _ bodies: [[UInt8]]) async throws {
        try await gateway.client { client async throws in
            for (push, body) in zip(pushes, bodies) {
                let again = try await client.post("/v1/push", push.body())
                #expect(again.body == body)
                #expect(again.headers["idempotent-replayed"] == "true")
            }
            let all = try await client.get("/v1/journal").json()["entries"]?.array ?? []
            let numbers = all.compactMap { $0["number"]?.int }
            #expect(numbers.count == 2 * pushes.count && numbers == numbers.sorted())
            let times = all.compactMap { $0["at"]?.text }
            #expect(times != times.sorted() && times.first ?? "" > times.last ?? "")
            var paged: [Int] = []
            var after = "0"
            while true {
                let page = try await client.get("/v1/journal?limit=5&after=\(after)").json()
                paged += page["entries"]?.array.compactMap { $0["number"]?.int } ?? []
                guard let next = page["next"]?.text else { break }
                after = next
            }
            #expect(paged == numbers)
            #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(gateway.database)))
            #expect(try await Ledger.Standing(gateway.database) == Ledger.Standing(after: pushes))
        }
    }

    /// New connections of an ordinary user get their time from `init_connect`.
    @Test("The clock of the server jumps", .tags(.mariadb), .needsMariaDB)
    func jump() async throws {
        let server = try await PrivateMariaDB()
        let database = try await Ledger.database(.mariadb, server: server)
        @Sendable func jump(to time: String) async throws {
            try await server.run("SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP(\"\(time)\")'")
            // The gateway connects again, and its clients get no error.
            let kills = try await server.run(
                "SELECT CONCAT('KILL ', ID, ';') FROM information_schema.PROCESSLIST WHERE USER = '\(database.account)'"
            )
            try await server.run(kills)
        }
        try await jump(to: "2031-05-06 07:08:09")
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) {
            gateway async throws in
            let bodies = try await gateway.client { client async throws in
                var bodies: [[UInt8]] = []
                for (index, push) in Self.pushes.enumerated() {
                    if index == 3 { try await jump(to: "2027-05-06 07:08:09") }
                    let answer = try await client.post("/v1/push", push.body())
                    #expect(answer.status == 200, "\(answer.text)")
                    bodies.append(answer.body)
                }
                let first = try await client.get("/v1/journal/1").json()["at"]?.text
                let last = try await client.get("/v1/journal/12").json()["at"]?.text
                #expect(first == "2031-05-06T07:08:09.000000Z" && last == "2027-05-06T07:08:09.000000Z")
                return bodies
            }
            try await Self.prove(gateway, bodies)
        }
        server.kill()
    }

    @Test("Entries with a future time are returned like others", arguments: TestEngine.allCases)
    func futureEntries(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await RunningGateway.with(old.database, rules: Ledger.rules, journal: .together) { gateway async throws in
            let bodies = try await gateway.client { client async throws in
                var bodies: [[UInt8]] = []
                for push in Self.pushes { bodies.append(try await client.post("/v1/push", push.body()).body) }
                return bodies
            }
            try await old.database.runOnJournal("UPDATE entries SET at = \(old.moment(3_650)) WHERE n <= 6;")
            try await Self.prove(gateway, bodies)
            #expect(try await old.pruning().run() == 0)
            try await Self.prove(gateway, bodies)
        }
    }

    /// Such entries do not delay the deletion of others.
    @Test("Entries with a future time are not deleted", arguments: TestEngine.allCases)
    func pruning(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(600, days: -3_650)
        try await old.add(700, days: 500)
        try await old.add(5, days: -3_650)
        try await old.add(100, days: 100)
        try await old.add(7, days: 1)
        #expect(try await old.pruning().run() == 700)
        #expect(try await old.counts() == "712\t612\t612\n")
    }

    /// An entry may seem old only because the clock was wrong when it was written.
    @Test("An entry is deleted only after all entries before it", arguments: TestEngine.allCases)
    func pruningOrder(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(10, days: 1)
        try await old.add(10, days: 20_000)
        try await old.add(10, days: 0)
        #expect(try await old.pruning().run() == 0)
        #expect(try await old.counts() == "30\t30\t30\n")
    }

    @Test("A lease from a time when the clock was ahead ends", arguments: TestEngine.allCases)
    func lease(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(10, days: 500)
        try await old.database.runOnJournal(
            "INSERT INTO meta (name, value, until) VALUES ('prune', 'gone', \(old.moment(3_650)));")
        #expect(try await old.pruning().run() == 9)
    }
}
