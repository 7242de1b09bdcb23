import Testing
import TestSupport

/// The edits of a push are written in their order.
///
/// Each reads the rows that the earlier edits wrote.
@Suite struct EditOrderTests {
    @Test("Later edits of a row that was found by identity read its new values", arguments: TestEngine.allCases)
    func foundByIdentity(_ kind: TestEngine) async throws {
        let found =
            #"{"resource":"people","id":"tmp:a","changeset":{"person":{"old":null,"new":{"email":"ann@x","score":50}}}}"#
        let edit = #"{"resource":"people","id":401,"changeset":{"person":{"score":{"old":50,"new":20}}}}"#
        let delete = #"{"resource":"people","id":401,"changeset":{"person":{"old":{"score":20},"new":null}}}"#
        for atomic in ["push", "edit"] {
            let (answers, database) = try await PeopleGateway.push(
                kind, [#"{"atomic":"\#(atomic)","edits":[\#(found),\#(edit),\#(delete)]}"#])
            #expect(answers[0].status == 200, "\(answers[0].text)")
            let outcomes = try PeopleGateway.outcomes(answers[0])
            #expect(
                outcomes.first == ["already", "client-won"]
                    && outcomes.dropFirst() == [["applied"], ["deleted", "deleted"]])
            #expect(try await database.run("SELECT COUNT(*) FROM people WHERE id = 401;") == "0\n")
        }
    }

    @Test(
        "A creation that finds a record by identity can delete its items", arguments: TestEngine.allCases,
        ["", #""id":"tmp:p","#, #""id":499,"#])
    func itemsOfFoundRecord(_ kind: TestEngine, _ id: String) async throws {
        let body = """
            {"edits":[{"resource":"people",\(id)"changeset":{"person":{"old":null,"new":{"email":"ann@x"}},
              "notes":[{"id":1,"old":{"body":"one"},"new":null}]}}]}
            """
        let (answers, database) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try Set(PeopleGateway.outcomes(answers[0])[0]) == ["already", "deleted"])
        #expect(try await database.run("SELECT COUNT(*) FROM notes WHERE id = 1;") == "0\n")
    }

    @Test("An update is written before a later edit creates a row", arguments: TestEngine.allCases)
    func updateBeforeCreation(_ kind: TestEngine) async throws {
        let (answers, database) = try await PeopleGateway.push(
            kind,
            [
                """
                {"edits":[{"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"Far"}}}},
                  {"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"South"}}}}]}
                """
            ])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try await database.run("SELECT COUNT(*) FROM areas WHERE name = 'South';") == "1\n")
    }

    @Test(
        "An earlier edit can free a unique value, a later edit cannot", arguments: TestEngine.allCases,
        [[403, 401], [401, 403]])
    func uniqueIndex(_ kind: TestEngine, _ ids: [Int]) async throws {
        func change(_ id: Int, _ new: String) -> String {
            #"{"resource":"people","id":\#(id),"changeset":{"person":{"code":{"old":"k\#(id - 400)","new":"\#(new)"}}}}"#
        }
        let taken = "k\(ids[1] - 400)"
        let (answers, _) = try await PeopleGateway.push(
            kind,
            [
                #"{"edits":[\#(change(ids[0], taken)),\#(change(ids[1], "free"))]}"#,
                #"{"edits":[\#(change(ids[1], "free")),\#(change(ids[0], taken))]}"#,
            ])
        #expect(answers[0].status == 422, "\(answers[0].text)")
        #expect(try answers[0].json()["results"]?[0]?["problem"]?["code"]?.text == "unique")
        #expect(answers[1].status == 200, "\(answers[1].text)")
    }

    /// SQLite assigns the number of a deleted row to a new row.
    @Test("An edit of a reused number edits the new row", arguments: TestEngine.allCases)
    func reusedNumber(_ kind: TestEngine) async throws {
        let next = kind == .mariadb ? 404 : 403
        let prepare =
            kind == .mariadb
            ? "" : #"{"resource":"people","id":403,"changeset":{"person":{"old":{"code":"k3"},"new":null}}},"#
        let body = """
            {"edits":[\(prepare)
              {"resource":"people","id":"tmp:n","changeset":{"person":{"old":null,"new":{"email":"new@x","score":1}}}},
              {"resource":"people","id":\(next),"changeset":{"person":{"score":{"old":30,"new":31}}}}]}
            """
        let (answers, database) = try await PeopleGateway.push(kind, [body])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try PeopleGateway.outcomes(answers[0]).last == ["combined"])
        #expect(try await database.run("SELECT score, email FROM people WHERE id = \(next);") == "2\tnew@x\n")
    }

    /// The key names no row, and a row with this key cannot be restored.
    @Test("A key that is equal only by the collation is a collision", .tags(.mariadb), .needsMariaDB)
    func equalByCollation() async throws {
        let sql = """
            CREATE TABLE words (id VARCHAR(20) PRIMARY KEY, body VARCHAR(20));
            INSERT INTO words VALUES ('joe', 'one');
            """
        let rules = [
            "words.yaml": """
            resource: words
            sections:
              word: {table: words, on-missing: restore, groups: {body: body}}
            """
        ]
        let database = try await TestDatabase(.mariadb, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/push",
                    #"{"edits":[{"resource":"words","id":"JOE","changeset":{"word":{"body":{"old":"a","new":"b"}}}}]}"#)
            }
            #expect(answer.status == 422, "\(answer.text)")
            #expect(try answer.json()["results"]?[0]?["problem"]?["record"]?["id"]?.text == "joe")
        }
    }

    @Test("Items are deleted before their record is created", arguments: TestEngine.allCases, [false, true])
    func deletionsFirst(_ kind: TestEngine, createsMore: Bool) async throws {
        let sql = """
            CREATE TABLE bags (bag VARCHAR(20) PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE things (id INTEGER PRIMARY KEY \(kind == .mariadb ? "AUTO_INCREMENT" : ""), bag VARCHAR(20),
              note VARCHAR(20));
            INSERT INTO things (id, bag) VALUES (1, 'b');
            """
        let rules = [
            "bags.yaml": """
            resource: bags
            sections:
              bag: {table: bags, groups: {name: name}}
              things: {list: true, table: things, parent: bag, groups: {note: note}}
            """
        ]
        let more = createsMore ? #",{"id":"tmp:a","old":null,"new":{}}"# : ""
        let body = """
            {"edits":[{"resource":"bags","id":"b","changeset":{"bag":{"old":null,"new":{}},
              "things":[{"id":1,"old":{},"new":null}\(more)]}}]}
            """
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client { try await $0.post("/v1/push", body) }
            #expect(answer.status == 200, "\(answer.text)")
            // Without its record, the item is not visible to clients.
            let outcomes = try PeopleGateway.outcomes(answer)
            #expect(outcomes == [createsMore ? ["already", "inserted", "inserted"] : ["already", "inserted"]])
        }
    }
}
