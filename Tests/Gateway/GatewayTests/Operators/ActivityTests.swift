import Operations
import Testing
import TestSupport

/// Counts of the journal's entries by minute.
@Suite struct ActivityTests {
    @Test("Each minute has its entries, conflicts and refused pushes", arguments: TestEngine.allCases)
    func minutes(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.withTwo(database, rules: JournalTests.rules) { one, two async throws in
            let empty = try await one.client { try await $0.get("/v1/operations/activity").json() }
            #expect(empty["minutes"]?.array.isEmpty == true && empty["isComplete"]?.bool == true, "\(empty)")
            let edits = [
                #"{"person":{"name":{"old":"Ann","new":"b"}}}"#, #"{"person":{"name":{"old":"Ann","new":"c"}}}"#,
                #"{"person":{"email":{"old":"a@x","new":"b@x"}}}"#,
                #"{"items":[{"id":1,"old":{"what":"Beans"},"new":null}]}"#,
                #"{"items":[{"id":2,"old":{"what":"Coffee"},"new":null}]}"#,
            ]
            for (index, edit) in edits.enumerated() {
                try await (index % 2 == 0 ? one : two).client {
                    _ = try await $0.post("/v1/merge/people", JournalTests.edit(edit))
                }
            }
            // An entry of two hours ago.
            try await database.runOnJournal(
                kind == .sqlite
                    ? "UPDATE entries SET at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-2 hours') WHERE n = 1;"
                    : "UPDATE entries SET at = UTC_TIMESTAMP(6) - INTERVAL 2 HOUR WHERE n = 1;")
            func sum(_ query: String, _ name: String) async throws -> Int {
                let answer = try await one.client { try await $0.get("/v1/operations/activity\(query)").json() }
                #expect(answer["isComplete"]?.bool == true)
                #expect(answer["now"]?.text?.hasSuffix("Z") == true)
                #expect(answer["minutes"]?.array.allSatisfy { $0["at"]?.text?.hasSuffix(":00Z") == true } == true)
                return answer["minutes"]?.array.reduce(0) { $0 + ($1[name]?.int ?? 0) } ?? 0
            }
            #expect(try await sum("", "entries") == 4)
            #expect(try await sum("?minutes=1440", "entries") == 5)
            #expect(try await sum("", "conflicts") == 2)
            #expect(try await sum("", "refused") == 1)
        }
    }

    @Test("The minutes are limited, and need an operator")
    func limits() async throws {
        let database = try await JournalTests.database(.sqlite)
        let (ann, ben) = (AccessToken.make(), AccessToken.make())
        let tokens =
            ann.line(name: "ann", rights: [.read, .write, .operate]) + "\n" + ben.line(name: "ben", rights: [.read])
        try await RunningGateway.with(database, rules: JournalTests.rules, tokens: tokens, journal: .together) {
            gateway async throws in
            try await gateway.client(token: ann.secret) { client async throws in
                for wrong in ["0", "1441", "x", "-1", "99999999999999999999"] {
                    #expect(try await client.get("/v1/operations/activity?minutes=\(wrong)").status == 400, "\(wrong)")
                }
            }
            try await gateway.client(token: ben.secret) { client async throws in
                #expect(try await client.get("/v1/operations/activity").status == 403)
            }
        }
    }
}
