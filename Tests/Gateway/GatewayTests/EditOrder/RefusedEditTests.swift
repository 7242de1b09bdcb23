import Testing
import TestSupport

/// A refused edit writes nothing, and its answer has the current rows.
@Suite struct RefusedEditTests {
    @Test("A refused edit stores nothing", arguments: TestEngine.allCases)
    func refused(_ kind: TestEngine) async throws {
        // The root would break a check; the item's key exists under another record.
        let body = """
            {"atomic":"edit","edits":[
              {"resource":"people","id":401,"changeset":{"person":{"score":{"old":10,"new":500}},
                "notes":[{"id":2,"old":null,"new":{"body":"x"}}]}},
              {"resource":"people","id":402,"changeset":{"person":{"code":{"old":"k2","new":"z"}}}}]}
            """
        let (answers, database) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == 207, "\(answers[0].text)")
        let results = try answers[0].json()["results"]?.array
        #expect(results?[0]["status"]?.text == "failed" && results?[0]["problem"]?["code"]?.text == "unique")
        #expect(results?[1]["status"]?.text == "merged")
        #expect(
            try await database.run("SELECT score, code FROM people WHERE id < 403 ORDER BY id;") == "10\tk1\n20\tz\n")
    }

    @Test("A rejected edit stores nothing", arguments: TestEngine.allCases)
    func rejected(_ kind: TestEngine) async throws {
        let body = """
            {"atomic":"edit","edits":[
              {"resource":"people","id":401,"changeset":{
                "notes":[{"id":1,"old":{"body":"one"},"new":null},{"id":9,"old":null,"new":{"body":"x"}}],
                "person":{"score":{"old":10,"new":11},"email":{"old":"other","new":"mine"}}}},
              {"resource":"people","id":402,"changeset":{"person":{"code":{"old":"k2","new":"z"}}}}]}
            """
        let (answers, database) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == 207, "\(answers[0].text)")
        #expect(
            try await database.run("SELECT score, code FROM people WHERE id < 403 ORDER BY id;") == "10\tk1\n20\tz\n")
        #expect(try await database.run("SELECT COUNT(*) FROM notes;") == "2\n")
    }

    @Test(
        "The answer to a refused creation has the row that it found", arguments: TestEngine.allCases,
        [#""tmp:a""#, "9"])
    func refusedCreation(_ kind: TestEngine, _ id: String) async throws {
        let body = """
            {"edits":[{"resource":"people","id":\(id),"changeset":{"person":{"old":null,
              "new":{"email":"ann@x","score":-5000}}}},
              {"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"North"}}}}]}
            """
        let (answers, _) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == 422, "\(answers[0].text)")
        let result = try answers[0].json()["results"]?[0]
        #expect(answers[0].text.contains(#""resource":"people","id":\#(id),"#), "\(answers[0].text)")
        #expect(result?["record"]?["id"]?.int == 401)
        let score = result?["outcomes"]?.array.first { $0["group"]?.text == "score" }
        #expect(score?["written"]?.int == 10, "\(answers[0].text)")
    }

    @Test("The answer to a refused edit has the record that an earlier edit created", arguments: TestEngine.allCases)
    func refusedEditOfNewRow(_ kind: TestEngine) async throws {
        let body = """
            {"atomic":"edit","edits":[
              {"resource":"people","id":"tmp:a","changeset":{"person":{"old":null,"new":{"email":"new@x"}}}},
              {"resource":"people","id":"tmp:a","changeset":{"person":{"email":{"old":"other","new":"mine@x"}}}}]}
            """
        let (answers, _) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == 207, "\(answers[0].text)")
        let results = try answers[0].json()["results"]?.array ?? []
        #expect(results[1]["record"]?["person"]?["email"]?.text == "new@x", "\(answers[0].text)")
        #expect(results[1]["record"]?["id"]?.int == results[0]["id"]?.int)
        #expect(results[1]["outcomes"]?[0]?["written"]?.text == "new@x")
    }

    @Test("After a refused push, a reused number names the old row again") func reusedNumber() async throws {
        let body = """
            {"edits":[
              {"resource":"people","id":403,"changeset":{"person":{"old":{"code":"k3"},"new":null}}},
              {"resource":"people","id":"tmp:n","changeset":{"person":{"old":null,"new":{"email":"new@x","score":1}}}},
              {"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"k2"}}}}]}
            """
        let (answers, _) = try await PeopleGateway.push(.sqlite, [body])
        #expect(answers[0].status == 422, "\(answers[0].text)")
        let results = try answers[0].json()["results"]?.array ?? []
        #expect(results[0]["record"]?["person"]?["email"]?.text == "cy@x", "\(answers[0].text)")
        #expect(results[1]["id"]?.text == "tmp:n" && results[1]["record"]?.isNull == true)
    }

    @Test(
        "If the rules reject one edit and the database refuses another, the push is rejected",
        arguments: TestEngine.allCases, [false, true])
    func rejectionFirst(_ kind: TestEngine, rejectedFirst: Bool) async throws {
        let rejected =
            #"{"resource":"people","id":402,"changeset":{"person":{"email":{"old":"other","new":"mine@x"}}}}"#
        let refused = #"{"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"k3"}}}}"#
        let edits = (rejectedFirst ? [rejected, refused] : [refused, rejected]).joined(separator: ",")
        let (answers, _) = try await PeopleGateway.push(kind, [#"{"edits":[\#(edits)]}"#])
        #expect(answers[0].status == 409, "\(answers[0].text)")
        #expect(try answers[0].json()["status"]?.text == "rejected")
    }
}
