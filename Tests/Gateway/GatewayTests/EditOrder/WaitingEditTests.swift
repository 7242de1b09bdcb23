import Testing
import TestSupport

/// An edit that names a new row waits until a later edit creates the row.
@Suite struct WaitingEditTests {
    @Test("The other edits keep their order", arguments: TestEngine.allCases)
    func otherEdits(_ kind: TestEngine) async throws {
        let waits = #"{"resource":"people","id":401,"changeset":{"person":{"area":{"old":null,"new":"tmp:s"}}}}"#
        let frees = #"{"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"Far"}}}}"#
        let makes = #"{"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"South"}}}}"#
        let (answers, database) = try await PeopleGateway.push(kind, [#"{"edits":[\#(waits),\#(frees),\#(makes)]}"#])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try PeopleGateway.outcomes(answers[0]) == [["applied"], ["applied"], ["inserted"]])
        #expect(
            try await database.run(
                "SELECT a.name FROM people p JOIN areas a ON a.id = p.area WHERE p.id = 401;") == "South\n")
    }

    @Test("A later edit of the same record waits too", arguments: TestEngine.allCases)
    func sameRecord(_ kind: TestEngine) async throws {
        let waits = """
            {"resource":"people","id":900,"changeset":{"person":{"old":null,"new":{"email":"z@x","area":"tmp:s"}}}}
            """
        let edits = #"{"resource":"people","id":900,"changeset":{"person":{"code":{"old":null,"new":"k9"}}}}"#
        let makes = #"{"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"East"}}}}"#
        let (answers, _) = try await PeopleGateway.push(kind, [#"{"edits":[\#(waits),\#(edits),\#(makes)]}"#])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try PeopleGateway.outcomes(answers[0]) == [["inserted"], ["applied"], ["inserted"]])
    }

    @Test("A later edit of the same item waits too", arguments: TestEngine.allCases)
    func sameItem(_ kind: TestEngine) async throws {
        let waits = """
            {"resource":"people","id":401,"changeset":{"person":{"area":{"old":null,"new":"tmp:s"}},
              "notes":[{"id":1,"body":{"old":"one","new":"uno"}}]}}
            """
        let makes = #"{"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"East"}}}}"#
        let edits = #"{"resource":"people","id":401,"changeset":{"notes":[{"id":1,"body":{"old":"uno","new":"un"}}]}}"#
        let (answers, _) = try await PeopleGateway.push(kind, [#"{"edits":[\#(waits),\#(edits),\#(makes)]}"#])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try PeopleGateway.outcomes(answers[0]) == [["applied", "applied"], ["applied"], ["inserted"]])
    }

    /// Updates are collected, and written before a later edit reads rows that they can change.
    @Test("A refusal of a delayed update is reported for its edit", arguments: TestEngine.allCases, ["push", "edit"])
    func refusedUpdate(_ kind: TestEngine, atomic: String) async throws {
        let body = """
            {"atomic":"\(atomic)","edits":[
              {"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"Far"}}}},
              {"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"k3"}}}},
              {"resource":"people","id":402,"changeset":{"notes":[{"id":2,"body":{"old":"zwei","new":"deux"}}]}}]}
            """
        let (answers, database) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == (atomic == "push" ? 422 : 207), "\(answers[0].text)")
        let results = try answers[0].json()["results"]
        #expect(results?[1]?["problem"]?["code"]?.text == "unique", "\(answers[0].text)")
        #expect(try PeopleGateway.outcomes(answers[0]).last == ["client-won"])
        #expect(
            try await database.run("SELECT name FROM areas WHERE id = 102;") == (atomic == "push" ? "South\n" : "Far\n")
        )
    }
}
