import Testing
import TestSupport

/// Edits of one push are written in their order: each meets what the ones before it left, and nothing of a refused one.
@Suite struct EditOrderTests {
    private static let sql = """
        CREATE TABLE areas (id INTEGER PRIMARY KEY \(number), name VARCHAR(20) UNIQUE);
        CREATE TABLE people (id INTEGER PRIMARY KEY \(number), email VARCHAR(40) UNIQUE, score INTEGER, area INTEGER,
          code VARCHAR(20) UNIQUE, CONSTRAINT positive CHECK (score > -1000));
        CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER NOT NULL, body VARCHAR(20));
        INSERT INTO areas (id, name) VALUES (102, 'South'), (103, 'North');
        INSERT INTO people (id, email, score, code) VALUES (401, 'ann@x', 10, 'k1'), (402, 'bob@x', 20, 'k2'),
          (403, 'cy@x', 30, 'k3');
        INSERT INTO notes VALUES (1, 401, 'one'), (2, 402, 'two');
        """
    private static let number = "/*numbered*/"

    private static let rules = [
        "areas.yaml": """
        resource: areas
        sections:
          area: {table: areas, client-keys: allow, groups: {name: name}}
        """,
        "people.yaml": """
        resource: people
        sections:
          person:
            table: people
            client-keys: allow
            identity: [email]
            on-missing: restore
            groups:
              email: {column: email, on-conflict: reject}
              score: {column: score, merge: add}
              area: {column: area, references: areas}
              code: code
            checks: [{name: low, sql: score < 100, fields: [score]}]
          notes:
            list: true
            table: notes
            client-keys: allow
            parent: person
            on-missing: restore
            on-delete-conflict: reject
            groups: {body: body}
        """,
    ]

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        try await TestDatabase(
            kind, mariadb: sql.replacing(number, with: "AUTO_INCREMENT"), sqlite: sql.replacing(number, with: ""))
    }

    private static func push(_ kind: TestEngine, _ bodies: [String]) async throws -> (
        answers: [HTTPClient.Answer], database: TestDatabase
    ) {
        let database = try await database(kind)
        let answers = try await RunningGateway.with(database, rules: rules, journal: .together) {
            gateway async throws in
            try await gateway.client { session in
                var answers: [HTTPClient.Answer] = []
                for body in bodies { answers.append(try await session.post("/v1/push", body)) }
                return answers
            }
        }
        return (answers, database)
    }

    private static func outcomes(_ answer: HTTPClient.Answer) throws -> [[String]] {
        try answer.json()["results"]?.array.map { result in
            (result["outcomes"]?.array ?? []).compactMap { $0["outcome"]?.text }
        } ?? []
    }

    // MARK: A refused edit leaves nothing

    @Test(arguments: TestEngine.allCases)
    func nothingOfARefusedEditIsStored(_ kind: TestEngine) async throws {
        // The root would break a check; the item's key exists under another record.
        let body = """
            {"atomic":"edit","edits":[
              {"resource":"people","id":401,"changeset":{"person":{"score":{"old":10,"new":500}},
                "notes":[{"id":2,"old":null,"new":{"body":"x"}}]}},
              {"resource":"people","id":402,"changeset":{"person":{"code":{"old":"k2","new":"z"}}}}]}
            """
        let (answers, database) = try await Self.push(kind, [body])
        #expect(answers[0].status == 207, "\(answers[0].text)")
        let results = try answers[0].json()["results"]?.array
        #expect(results?[0]["status"]?.text == "failed" && results?[0]["problem"]?["code"]?.text == "unique")
        #expect(results?[1]["status"]?.text == "merged")
        #expect(
            try await database.run("SELECT score, code FROM people WHERE id < 403 ORDER BY id;") == "10\tk1\n20\tz\n")
    }

    /// The same on the way of a rejection.
    @Test(arguments: TestEngine.allCases)
    func nothingOfARejectedEditIsStored(_ kind: TestEngine) async throws {
        let body = """
            {"atomic":"edit","edits":[
              {"resource":"people","id":401,"changeset":{
                "notes":[{"id":1,"old":{"body":"one"},"new":null},{"id":9,"old":null,"new":{"body":"x"}}],
                "person":{"score":{"old":10,"new":11},"email":{"old":"other","new":"mine"}}}},
              {"resource":"people","id":402,"changeset":{"person":{"code":{"old":"k2","new":"z"}}}}]}
            """
        let (answers, database) = try await Self.push(kind, [body])
        #expect(answers[0].status == 207, "\(answers[0].text)")
        #expect(
            try await database.run("SELECT score, code FROM people WHERE id < 403 ORDER BY id;") == "10\tk1\n20\tz\n")
        #expect(try await database.run("SELECT COUNT(*) FROM notes;") == "2\n")
    }

    // MARK: Later edits see earlier ones

    @Test(arguments: TestEngine.allCases)
    func aRowFoundByIdentityIsMetAsItWasLeft(_ kind: TestEngine) async throws {
        let found =
            #"{"resource":"people","id":"tmp:a","changeset":{"person":{"old":null,"new":{"email":"ann@x","score":50}}}}"#
        let edit = #"{"resource":"people","id":401,"changeset":{"person":{"score":{"old":50,"new":20}}}}"#
        let delete = #"{"resource":"people","id":401,"changeset":{"person":{"old":{"score":20},"new":null}}}"#
        for atomic in ["push", "edit"] {
            let (answers, database) = try await Self.push(
                kind, [#"{"atomic":"\#(atomic)","edits":[\#(found),\#(edit),\#(delete)]}"#])
            #expect(answers[0].status == 200, "\(answers[0].text)")
            let told = try Self.outcomes(answers[0])
            #expect(
                told.first == ["already", "client-won"] && told.dropFirst() == [["applied"], ["deleted", "deleted"]])
            #expect(try await database.run("SELECT COUNT(*) FROM people WHERE id = 401;") == "0\n")
        }
    }

    /// The record that a creation comes upon by `identity` may have what the same edit deletes.
    @Test(arguments: TestEngine.allCases, ["", #""id":"tmp:p","#, #""id":499,"#])
    func itemsOfARecordFoundByIdentityAreDeleted(_ kind: TestEngine, _ id: String) async throws {
        let body = """
            {"edits":[{"resource":"people",\(id)"changeset":{"person":{"old":null,"new":{"email":"ann@x"}},
              "notes":[{"id":1,"old":{"body":"one"},"new":null}]}}]}
            """
        let (answers, database) = try await Self.push(kind, [body])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try Set(Self.outcomes(answers[0])[0]) == ["already", "deleted"])
        #expect(try await database.run("SELECT COUNT(*) FROM notes WHERE id = 1;") == "0\n")
    }

    @Test(arguments: TestEngine.allCases)
    func anUpdateIsThereWhenALaterEditCreates(_ kind: TestEngine) async throws {
        let (answers, database) = try await Self.push(
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

    /// An edit that names a row which a later one creates waits for it; the others stay as they were sent.
    @Test(arguments: TestEngine.allCases)
    func whoeverWaitsForARowLetsTheOthersPass(_ kind: TestEngine) async throws {
        let waits = #"{"resource":"people","id":401,"changeset":{"person":{"area":{"old":null,"new":"tmp:s"}}}}"#
        let frees = #"{"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"Far"}}}}"#
        let makes = #"{"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"South"}}}}"#
        let (answers, database) = try await Self.push(kind, [#"{"edits":[\#(waits),\#(frees),\#(makes)]}"#])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try Self.outcomes(answers[0]) == [["applied"], ["applied"], ["inserted"]])
        #expect(
            try await database.run(
                "SELECT a.name FROM people p JOIN areas a ON a.id = p.area WHERE p.id = 401;") == "South\n")
    }

    /// The creation of a record waits, and with it the edit of that record behind it.
    @Test(arguments: TestEngine.allCases)
    func editsOfARecordWaitTogether(_ kind: TestEngine) async throws {
        let waits = """
            {"resource":"people","id":900,"changeset":{"person":{"old":null,"new":{"email":"z@x","area":"tmp:s"}}}}
            """
        let edits = #"{"resource":"people","id":900,"changeset":{"person":{"code":{"old":null,"new":"k9"}}}}"#
        let makes = #"{"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"East"}}}}"#
        let (answers, _) = try await Self.push(kind, [#"{"edits":[\#(waits),\#(edits),\#(makes)]}"#])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try Self.outcomes(answers[0]) == [["inserted"], ["applied"], ["inserted"]])
    }

    /// An item that is edited twice is edited in the order sent, though the first waits for a row.
    @Test(arguments: TestEngine.allCases)
    func editsOfAnItemWaitTogether(_ kind: TestEngine) async throws {
        let waits = """
            {"resource":"people","id":401,"changeset":{"person":{"area":{"old":null,"new":"tmp:s"}},
              "notes":[{"id":1,"body":{"old":"one","new":"uno"}}]}}
            """
        let makes = #"{"resource":"areas","id":"tmp:s","changeset":{"area":{"old":null,"new":{"name":"East"}}}}"#
        let edits = #"{"resource":"people","id":401,"changeset":{"notes":[{"id":1,"body":{"old":"uno","new":"un"}}]}}"#
        let (answers, _) = try await Self.push(kind, [#"{"edits":[\#(waits),\#(edits),\#(makes)]}"#])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try Self.outcomes(answers[0]) == [["applied", "applied"], ["applied"], ["inserted"]])
    }

    /// A collision that a later edit would mend is one, and one that an earlier edit has mended is none.
    @Test(arguments: TestEngine.allCases, [[403, 401], [401, 403]])
    func updatesOfAUniqueIndexKeepTheirOrder(_ kind: TestEngine, _ ids: [Int]) async throws {
        func change(_ id: Int, _ new: String) -> String {
            #"{"resource":"people","id":\#(id),"changeset":{"person":{"code":{"old":"k\#(id - 400)","new":"\#(new)"}}}}"#
        }
        let taken = "k\(ids[1] - 400)"
        let (answers, _) = try await Self.push(
            kind,
            [
                #"{"edits":[\#(change(ids[0], taken)),\#(change(ids[1], "free"))]}"#,
                #"{"edits":[\#(change(ids[1], "free")),\#(change(ids[0], taken))]}"#,
            ])
        #expect(answers[0].status == 422, "\(answers[0].text)")
        #expect(try answers[0].json()["results"]?[0]?["problem"]?["code"]?.text == "unique")
        #expect(answers[1].status == 200, "\(answers[1].text)")
    }

    /// The database may give a new row the number of one that is gone; an edit of that number then meets the new row.
    @Test(arguments: TestEngine.allCases)
    func aNumberThatWasGivenAgainNamesTheNewRow(_ kind: TestEngine) async throws {
        let next = kind == .mariadb ? 404 : 403
        let prepare =
            kind == .mariadb
            ? "" : #"{"resource":"people","id":403,"changeset":{"person":{"old":{"code":"k3"},"new":null}}},"#
        let body = """
            {"edits":[\(prepare)
              {"resource":"people","id":"tmp:n","changeset":{"person":{"old":null,"new":{"email":"new@x","score":1}}}},
              {"resource":"people","id":\(next),"changeset":{"person":{"score":{"old":30,"new":31}}}}]}
            """
        let (answers, database) = try await Self.push(kind, [body])
        #expect(answers[0].status == 200, "\(answers[0].text)")
        #expect(try Self.outcomes(answers[0]).last == ["combined"])
        #expect(try await database.run("SELECT score, email FROM people WHERE id = \(next);") == "2\tnew@x\n")
    }

    /// A key that only the collation equates with a row's names no row, and cannot be brought back beside it.
    @Test(.tags(.mariadb), .needsMariaDB) func aKeyThatTheCollationEquatesIsACollision() async throws {
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

    /// Deletions of items come before the root, whatever else the edit creates.
    @Test(arguments: TestEngine.allCases, [false, true])
    func itemsAreDeletedBeforeTheirRecordIsCreated(_ kind: TestEngine, createsMore: Bool) async throws {
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
            // Before its record is there, no client sees the item.
            let told = try Self.outcomes(answer)
            #expect(told == [createsMore ? ["already", "inserted", "inserted"] : ["already", "inserted"]])
        }
    }

    // MARK: What is told of a push that was taken back

    @Test("Behind a rejected item, a deleted record is gone for its other items", arguments: TestEngine.allCases)
    func itemsOfADeletedRecord(_ kind: TestEngine) async throws {
        let edit = """
            {"resource":"people","id":401,"changeset":{"person":{"old":{"score":10},"new":null},"notes":[
              {"id":1,"old":{"body":"uno"},"new":null},
              {"id":8,"old":null,"new":{"body":"x"}},
              {"id":9,"body":{"old":"y","new":"z"}}]}}
            """
        let (answers, _) = try await Self.push(kind, [#"{"edits":[\#(edit)]}"#])
        #expect(answers[0].status == 409, "\(answers[0].text)")
        #expect(try Self.outcomes(answers[0]) == [["rejected", "missing", "missing"]], "\(answers[0].text)")
    }

    @Test(arguments: TestEngine.allCases, [false, true])
    func conflictsOfARejectedPushAreToldAsTheyWouldHaveBeen(_ kind: TestEngine, rejectedFirst: Bool) async throws {
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
        let (answers, database) = try await Self.push(kind, [#"{"edits":[\#(edits)]}"#])
        #expect(answers[0].status == 409, "\(answers[0].text)")
        var told = try Self.outcomes(answers[0])
        if rejectedFirst { told = Array(told.dropFirst()) + [told[0]] }
        #expect(told == [[], ["client-won", "client-won"], [], ["client-won"], ["rejected"]], "\(answers[0].text)")
        var results = try answers[0].json()["results"]?.array ?? []
        if rejectedFirst { results = Array(results.dropFirst()) + [results[0]] }
        // The second edit met what the first had left; what stands in the end is what the database holds.
        #expect(results[1]["outcomes"]?[0]?["current"]?.text == "q")
        #expect(results[1]["outcomes"]?[0]?["written"]?.text == "k1")
        #expect(results[2]["id"]?.text == "tmp:n" && results[2]["record"]?.isNull == true && results[2]["ids"] == nil)
        #expect(try await database.run("SELECT COUNT(*) FROM people;") == "3\n")
    }

    /// A creation that the database refuses, and that had met a row, tells that row as it stands.
    @Test(arguments: TestEngine.allCases, [#""tmp:a""#, "9"])
    func aRefusedCreationTellsTheRowThatItMet(_ kind: TestEngine, _ id: String) async throws {
        let body = """
            {"edits":[{"resource":"people","id":\(id),"changeset":{"person":{"old":null,
              "new":{"email":"ann@x","score":-5000}}}},
              {"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"North"}}}}]}
            """
        let (answers, _) = try await Self.push(kind, [body])
        #expect(answers[0].status == 422, "\(answers[0].text)")
        let result = try answers[0].json()["results"]?[0]
        #expect(answers[0].text.contains(#""resource":"people","id":\#(id),"#), "\(answers[0].text)")
        #expect(result?["record"]?["id"]?.int == 401)
        let score = result?["outcomes"]?.array.first { $0["group"]?.text == "score" }
        #expect(score?["written"]?.int == 10, "\(answers[0].text)")
    }

    /// A refused edit of a record that an earlier edit created and that stands tells the record.
    @Test(arguments: TestEngine.allCases)
    func aRefusedEditOfARowThatStandsTellsIt(_ kind: TestEngine) async throws {
        let body = """
            {"atomic":"edit","edits":[
              {"resource":"people","id":"tmp:a","changeset":{"person":{"old":null,"new":{"email":"new@x"}}}},
              {"resource":"people","id":"tmp:a","changeset":{"person":{"email":{"old":"other","new":"mine@x"}}}}]}
            """
        let (answers, _) = try await Self.push(kind, [body])
        #expect(answers[0].status == 207, "\(answers[0].text)")
        let results = try answers[0].json()["results"]?.array ?? []
        #expect(results[1]["record"]?["person"]?["email"]?.text == "new@x", "\(answers[0].text)")
        #expect(results[1]["record"]?["id"]?.int == results[0]["id"]?.int)
        #expect(results[1]["outcomes"]?[0]?["written"]?.text == "new@x")
    }

    /// A number that a new row got and lost again still names the row that the client sent it for.
    @Test func aNumberThatWasGivenAgainAndTakenBackNamesTheOldRow() async throws {
        let body = """
            {"edits":[
              {"resource":"people","id":403,"changeset":{"person":{"old":{"code":"k3"},"new":null}}},
              {"resource":"people","id":"tmp:n","changeset":{"person":{"old":null,"new":{"email":"new@x","score":1}}}},
              {"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"k2"}}}}]}
            """
        let (answers, _) = try await Self.push(.sqlite, [body])
        #expect(answers[0].status == 422, "\(answers[0].text)")
        let results = try answers[0].json()["results"]?.array ?? []
        #expect(results[0]["record"]?["person"]?["email"]?.text == "cy@x", "\(answers[0].text)")
        #expect(results[1]["id"]?.text == "tmp:n" && results[1]["record"]?.isNull == true)
    }

    /// A rejection by a policy counts before a refusal by the database.
    @Test(arguments: TestEngine.allCases, [false, true])
    func aRejectionCountsBeforeARefusal(_ kind: TestEngine, rejectedFirst: Bool) async throws {
        let rejected =
            #"{"resource":"people","id":402,"changeset":{"person":{"email":{"old":"other","new":"mine@x"}}}}"#
        let refused = #"{"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"k3"}}}}"#
        let edits = (rejectedFirst ? [rejected, refused] : [refused, rejected]).joined(separator: ",")
        let (answers, _) = try await Self.push(kind, [#"{"edits":[\#(edits)]}"#])
        #expect(answers[0].status == 409, "\(answers[0].text)")
        #expect(try answers[0].json()["status"]?.text == "rejected")
    }

    /// An update that waits may be refused when a later edit has to read what it could have changed.
    @Test(arguments: TestEngine.allCases, ["push", "edit"])
    func anUpdateThatWaitedIsRefusedAsItsOwnEdit(_ kind: TestEngine, atomic: String) async throws {
        let body = """
            {"atomic":"\(atomic)","edits":[
              {"resource":"areas","id":102,"changeset":{"area":{"name":{"old":"South","new":"Far"}}}},
              {"resource":"people","id":401,"changeset":{"person":{"code":{"old":"k1","new":"k3"}}}},
              {"resource":"people","id":402,"changeset":{"notes":[{"id":2,"body":{"old":"zwei","new":"deux"}}]}}]}
            """
        let (answers, database) = try await Self.push(kind, [body])
        #expect(answers[0].status == (atomic == "push" ? 422 : 207), "\(answers[0].text)")
        let results = try answers[0].json()["results"]
        #expect(results?[1]?["problem"]?["code"]?.text == "unique", "\(answers[0].text)")
        #expect(try Self.outcomes(answers[0]).last == ["client-won"])
        #expect(
            try await database.run("SELECT name FROM areas WHERE id = 102;") == (atomic == "push" ? "South\n" : "Far\n")
        )
    }

    // MARK: What a check takes back

    /// The second edit comes to the value that the first has written, and which the check takes back.
    @Test(arguments: TestEngine.allCases)
    func whatACheckTakesBackIsTakenBackForAllWhoWantedIt(_ kind: TestEngine) async throws {
        let sql = "CREATE TABLE seats (id INTEGER PRIMARY KEY, number INTEGER); INSERT INTO seats VALUES (1, 0);"
        let rules = [
            "seats.yaml": """
            resource: seats
            sections:
              seat:
                table: seats
                groups: {number: {column: number, merge: max}}
                checks: [{name: small, sql: number < 5, fields: [number], on-failure: server-wins}]
            """
        ]
        @Sendable func edit(_ old: Int, _ new: Int) -> String {
            #"{"resource":"seats","id":1,"changeset":{"seat":{"number":{"old":\#(old),"new":\#(new)}}}}"#
        }
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"edits":[\#(edit(1, 5)),\#(edit(0, 2))]}"#)
            }
            let outcomes = try answer.json()["results"]?.array.map { $0["outcomes"]?[0] }
            #expect(outcomes?.map { $0?["outcome"]?.text } == ["server-won", "server-won"], "\(answer.text)")
            #expect(outcomes?.map { $0?["written"]?.int } == [0, 0], "\(answer.text)")
        }
        #expect(try await database.run("SELECT number FROM seats;") == "0\n")
    }

    /// A value that `server-wins` takes back can collide by now; that refuses the push like any collision.
    @Test(arguments: TestEngine.allCases, ["push", "edit"])
    func aCollisionOfWhatACheckTakesBackIsOne(_ kind: TestEngine, _ atomic: String) async throws {
        let sql = """
            CREATE TABLE seats (id INTEGER PRIMARY KEY, hall INTEGER, number INTEGER, UNIQUE (hall, number));
            INSERT INTO seats VALUES (1, 1, 3), (2, 2, 3), (3, 1, 4), (4, 4, 4);
            """
        let rules = [
            "seats.yaml": """
            resource: seats
            sections:
              seat:
                table: seats
                groups: {hall: hall, number: number}
                checks: [{name: small, sql: number < 9, fields: [number], on-failure: server-wins}]
            """
        ]
        let wrong = """
            {"resource":"seats","id":1,"changeset":{"seat":{"hall":{"old":1,"new":2},"number":{"old":3,"new":9}}}}
            """
        let sound = #"{"resource":"seats","id":4,"changeset":{"seat":{"number":{"old":4,"new":5}}}}"#
        let refused = #"{"resource":"seats","id":3,"changeset":{"seat":{"number":{"old":4,"new":3}}}}"#
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            for edits in [wrong, wrong + "," + sound] {
                let answer = try await gateway.client {
                    try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits)]}"#)
                }
                #expect(answer.status == (atomic == "edit" && edits != wrong ? 207 : 422), "\(answer.text)")
                let problem = try answer.json()["results"]?[0]?["problem"]
                #expect(problem?["code"]?.text == "unique", "\(answer.text)")
                #expect(problem?["record"]?["id"]?.int == 2)
            }
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(refused),\#(wrong)]}"#)
            }
            #expect(answer.status == 422, "\(answer.text)")
        }
        #expect(try await database.run("SELECT hall, number FROM seats WHERE id = 1;") == "1\t3\n")
    }

    // MARK: Bases of another type

    @Test func aBaseOfAnotherTypeIsRefusedWhetherTheRowIsThereOrNot() async throws {
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
