import Testing
import TestSupport

@testable import Gateway

/// Rehearsals over HTTP that are long, simultaneous or abandoned.
@Suite(.timeLimit(.minutes(3))) struct RehearsalLimitTests {
    private static let body: String = {
        let file = JSON(text: JournalTests.rules["people.yaml"] ?? "").description
        return #"{"files":{"people.yaml":\#(file)}}"#
    }()

    private static func rehearse(_ gateway: RunningGateway) async throws -> HTTPClient.Answer {
        try await gateway.client { try await $0.post("/v1/operations/rehearse", body) }
    }

    /// Runs a gateway with a journal of one entry.
    private static func with(
        _ kind: TestEngine, requestSeconds: Int = 30, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, configure: { $0.requestSeconds = requestSeconds }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#)
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
            }
            try await body(gateway)
        }
    }

    @Test("A rehearsal at its time limit reports the oldest entries", arguments: TestEngine.allCases)
    func timeLimit(_ kind: TestEngine) async throws {
        // The limit leaves no time after the first entries.
        try await Self.with(kind, requestSeconds: 3) { gateway async throws in
            let columns = "at, who, resource, record, status, outcomes, rules, entry"
            for _ in 0..<13 {
                try await gateway.database.runOnJournal(
                    "INSERT INTO entries (\(columns)) SELECT \(columns) FROM entries;")
            }
            let report = try await Self.rehearse(gateway).json()
            #expect(report["isComplete"]?.bool == false, "\(report)")
            let count = report["entries"]?.int ?? 0
            #expect((1..<8_192).contains(count) && report["same"]?.int == count, "\(report)")
        }
    }

    /// Sends two rehearsals while the journal is locked, and returns the answers after its release.
    ///
    /// - Parameter abandons: true if the client of the running rehearsal leaves before the release.
    private static func two(
        _ gateway: RunningGateway, abandons: Bool
    ) async throws -> [HTTPClient.Answer] {
        let holder = try gateway.database.session()
        try await holder.run("LOCK TABLES `\(gateway.database.journalName)`.entries WRITE;")
        let answers = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
            for _ in 0..<2 { group.addTask { try await rehearse(gateway) } }
            var answers: [HTTPClient.Answer] = []
            // The other one waits for the lock.
            if let refused = try await group.next() { answers.append(refused) }
            if abandons {
                group.cancelAll()
                return answers
            }
            try await holder.run("UNLOCK TABLES;")
            if let served = try await group.next() { answers.append(served) }
            return answers
        }
        if abandons { try await holder.run("UNLOCK TABLES;") }
        holder.end()
        return answers
    }

    @Test("A rehearsal is refused while another one runs", .tags(.mariadb), .needsMariaDB)
    func simultaneous() async throws {
        try await Self.with(.mariadb) { gateway async throws in
            let answers = try await Self.two(gateway, abandons: false)
            #expect(answers.map(\.status) == [503, 200], "\(answers.map(\.text))")
            #expect(answers[0].headers["retry-after"] != nil && answers[0].text.contains("Another rehearsal runs"))
            #expect(try await Self.rehearse(gateway).status == 200)
        }
    }

    @Test("A rehearsal whose client has left prevents no other one", .tags(.mariadb), .needsMariaDB)
    func abandoned() async throws {
        try await Self.with(.mariadb) { gateway async throws in
            let answers = try await Self.two(gateway, abandons: true)
            #expect(answers.map(\.status) == [503], "\(answers.map(\.text))")
            let end = ContinuousClock.now + .seconds(60)
            var answer = try await Self.rehearse(gateway)
            while answer.status == 503, .now < end { answer = try await Self.rehearse(gateway) }
            #expect(answer.status == 200, "\(answer.text)")
        }
    }
}
