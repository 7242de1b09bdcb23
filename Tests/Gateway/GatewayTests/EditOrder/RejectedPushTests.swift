import Testing
import TestSupport

/// The answer of a rejected push.
@Suite struct RejectedPushTests {
    @Test("After a rejected item, the other items of a deleted record are missing", arguments: TestEngine.allCases)
    func itemsOfDeletedRecord(_ kind: TestEngine) async throws {
        let edit = """
            {"resource":"people","id":401,"changeset":{"person":{"old":{"score":10},"new":null},"notes":[
              {"id":1,"old":{"body":"uno"},"new":null},
              {"id":8,"old":null,"new":{"body":"x"}},
              {"id":9,"body":{"old":"y","new":"z"}}]}}
            """
        let (answers, _) = try await PeopleGateway.push(kind, [#"{"edits":[\#(edit)]}"#])
        #expect(answers[0].status == 409, "\(answers[0].text)")
        #expect(try PeopleGateway.outcomes(answers[0]) == [["rejected", "missing", "missing"]], "\(answers[0].text)")
    }

    @Test("A rejected push reports the conflicts of all edits", arguments: TestEngine.allCases, [false, true])
    func conflicts(_ kind: TestEngine, rejectedFirst: Bool) async throws {
        let rejected =
            #"{"resource":"people","id":402,"changeset":{"person":{"email":{"old":"other","new":"mine@x"}}}}"#
        let others = """
            {"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"q"}}}},
            {"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"w"}},
              "notes":[{"id":1,"body":{"old":"uno","new":"eins"}}]}},
            {"resource":"people","id":"tmp:n","changeset":{"person":{"old":null,"new":{"email":"n@x"}},
              "notes":[{"id":8,"old":null,"new":{"body":"x"}}]}},
            {"resource":"people","id":"tmp:n","changeset":{"notes":[{"id":8,"body":{"old":"y","new":"z"}}]}}
            """
        let edits = rejectedFirst ? rejected + "," + others : others + "," + rejected
        let (answers, database) = try await PeopleGateway.push(kind, [#"{"edits":[\#(edits)]}"#])
        #expect(answers[0].status == 409, "\(answers[0].text)")
        var outcomes = try PeopleGateway.outcomes(answers[0])
        if rejectedFirst { outcomes = Array(outcomes.dropFirst()) + [outcomes[0]] }
        #expect(
            outcomes == [[], ["client-won", "client-won"], [], ["client-won"], ["rejected"]], "\(answers[0].text)")
        var results = try answers[0].json()["results"]?.array ?? []
        if rejectedFirst { results = Array(results.dropFirst()) + [results[0]] }
        // `current` is the value of the first edit, `written` the value in the database.
        #expect(results[1]["outcomes"]?[0]?["current"]?.text == "q")
        #expect(results[1]["outcomes"]?[0]?["written"]?.text == "k1")
        #expect(results[2]["id"]?.text == "tmp:n" && results[2]["record"]?.isNull == true && results[2]["ids"] == nil)
        #expect(try await database.run("SELECT COUNT(*) FROM people;") == "3\n")
    }

    @Test("A base of another type is invalid, whether or not the row exists") func baseOfOtherType() async throws {
        let body = #"{"edits":[{"resource":"notes","id":%,"changeset":{"note":{"body":{"old":"five","new":6}}}}]}"#
        let sql = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body INTEGER); INSERT INTO notes VALUES (1, 5);"
        let rules = ["notes.yaml": "resource: notes\nsections:\n  note: {table: notes, groups: {body: body}}\n"]
        let database = try await TestDatabase(.sqlite, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            for id in ["1", "2"] {
                let answer = try await gateway.client { try await $0.post("/v1/push", body.replacing("%", with: id)) }
                #expect(answer.status == 400, "\(answer.text)")
                #expect(try answer.json()["path"]?.text == "edits[0].changeset.note.body.old")
            }
        }
    }
}
