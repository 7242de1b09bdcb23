import Testing
import TestSupport

/// Outcomes that an undo could not revert can be undone later.
@Suite struct UndoneOutcomeTests {
    @Test("An undo marks only outcomes that it reverted", arguments: TestEngine.allCases)
    func marks(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"person":{"name":{"old":"Ann","new":"Anna"},"email":{"old":"a@x","new":"b@y"}}}"#
                #expect(try await client.post("/v1/merge/people", JournalTests.edit(edit)).status == 200)
                try await database.run("UPDATE people SET email = 'c@z' WHERE id = 1;")
                let first = try await client.post("/v1/journal/1/undo", "{}")
                #expect(first.text.contains("server-won"), "\(first.text)")
                #expect(try await database.run("SELECT name, email FROM people WHERE id = 1;") == "Ann\tc@z\n")
                try await database.run("UPDATE people SET email = 'b@y' WHERE id = 1;")
                let rest = try await client.post("/v1/journal/1/undo", #"{"groups":["person.email"]}"#)
                #expect(rest.status == 200, "\(rest.text)")
                #expect(try await database.run("SELECT name, email FROM people WHERE id = 1;") == "Ann\ta@x\n")
                let taken = try await client.post("/v1/journal/1/undo", #"{"groups":["person.name"]}"#)
                #expect(taken.status == 422, "it was taken back before: \(taken.text)")
            }
        }
    }

    @Test("An undo that changes nothing has no entry", arguments: TestEngine.allCases)
    func withoutEffect(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#
                #expect(try await client.post("/v1/merge/people", JournalTests.edit(edit)).status == 200)
                try await database.run("UPDATE people SET name = 'Annika' WHERE id = 1;")
                for _ in 0..<2 {
                    let undo = try await client.post("/v1/journal/1/undo", "{}")
                    #expect(undo.status == 200 && undo.text.contains("server-won"), "\(undo.text)")
                }
                #expect(try await client.get("/v1/journal").json()["entries"]?.array.count == 1)
                try await database.run("UPDATE people SET name = 'Anna' WHERE id = 1;")
                #expect(try await client.post("/v1/journal/1/undo", "{}").text.contains("applied"))
                #expect(try await client.get("/v1/journal").json()["entries"]?.array.count == 2)
            }
        }
    }

    @Test("A row that was kept can be undone later", arguments: TestEngine.allCases)
    func keptRows(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edit =
                    #"{"person":{"name":{"old":"Ann","new":"Anna"}},"items":[{"id":-1,"old":null,"new":{"what":"Rice"}}]}"#
                #expect(try await client.post("/v1/merge/people", JournalTests.edit(edit)).status == 200)
                try await database.run("UPDATE items SET what = 'Wild rice' WHERE what = 'Rice';")
                let first = try await client.post("/v1/journal/1/undo", "{}")
                #expect(first.status == 200 && first.text.contains("kept"), "\(first.text)")
                try await database.run("UPDATE items SET what = 'Rice' WHERE what = 'Wild rice';")
                let rest = try await client.post("/v1/journal/1/undo", #"{"groups":["items"]}"#)
                #expect(rest.status == 200 && rest.text.contains(#""deleted""#), "\(rest.text)")
            }
        }
    }
}
