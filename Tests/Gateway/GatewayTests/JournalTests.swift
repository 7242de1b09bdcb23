import Operations
import Testing
import TestSupport

/// Exactly once, and nothing lost: keys, entries, refused pushes and undo, on both engines.
@Suite struct JournalTests {
    static func sql(_ key: String, _ engine: String) -> String {
        """
        CREATE TABLE people (id \(key), name VARCHAR(40) NOT NULL, email VARCHAR(40) UNIQUE, points INT NOT NULL DEFAULT 0,
          secret VARCHAR(40), state VARCHAR(10), unseen VARCHAR(20) NOT NULL DEFAULT 'u0')\(engine);
        CREATE TABLE items (id \(key), person INT NOT NULL, what VARCHAR(40) NOT NULL, hidden INT NOT NULL DEFAULT 7,
          FOREIGN KEY (person) REFERENCES people (id))\(engine);
        CREATE TABLE notes (id INT PRIMARY KEY, person INT, txt VARCHAR(20), FOREIGN KEY (person) REFERENCES people (id)
          ON DELETE CASCADE)\(engine);
        CREATE TABLE marks (id INT PRIMARY KEY, note INT, FOREIGN KEY (note) REFERENCES notes (id)
          ON DELETE SET NULL)\(engine);
        INSERT INTO people VALUES (1, 'Ann', 'a@x', 10, 'pin', 'new', 'u1'), (2, 'Bob', 'b@x', 20, NULL, 'new', 'u2');
        INSERT INTO items (id, person, what, hidden) VALUES (1, 1, 'Beans', 8), (2, 1, 'Tea', 9), (3, 2, 'Jam', 7);
        INSERT INTO notes VALUES (7, 1, 'n7'), (8, 2, 'n8');
        INSERT INTO marks VALUES (70, 7), (80, 8);
        """
    }
    static let rules = [
        "people.yaml": """
        resource: people
        sections:
          person:
            table: people
            on-missing: restore
            undo-columns: [unseen]
            groups:
              name: name
              email: email
              points: {column: points, merge: add}
              secret: {column: secret, private: true}
              state: {column: state, on-conflict: reject}
          items:
            list: true
            table: items
            parent: {person: id}
            on-missing: restore
            undo-columns: [hidden]
            groups: {what: what}
        """
    ]

    private static func with(
        _ kind: TestEngine, tokens: String? = nil, journal: JournalPlace = .together,
        _ body: @escaping @Sendable (RunningGateway, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await database(kind)
        try await RunningGateway.with(database, rules: rules, tokens: tokens, journal: journal) {
            gateway async throws in
            try await body(gateway, database)
        }
    }

    static func database(_ kind: TestEngine, server: PrivateMariaDB? = nil) async throws -> TestDatabase {
        try await TestDatabase(
            kind, mariadb: sql("INT PRIMARY KEY AUTO_INCREMENT", " ENGINE=InnoDB"),
            sqlite: sql("INTEGER PRIMARY KEY AUTOINCREMENT", ""), server: server)
    }

    static func edit(_ section: String, id: Int = 1, key: String? = nil) -> String {
        #"{"id":\#(id),\#(key.map { #""key":"\#($0)","# } ?? "")"changeset":\#(section)}"#
    }

    @Test(
        "A push with a known key returns the stored answer", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func keys(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, journal: place) { gateway, database in
            try await gateway.client { client in
                let body = Self.edit(
                    #"{"person":{"points":{"old":10,"new":15}},"items":[{"id":-1,"old":null,"new":{"what":"Corn"}}]}"#,
                    key: "k1")
                try await database.run("UPDATE people SET points = 11 WHERE id = 1;")
                let first = try await client.post("/v1/merge/people", body)
                #expect(first.status == 200, "\(first.text)")
                #expect(first.headers["idempotent-replayed"] == nil)
                // Order of members, white space and the spelling of numbers are no other body.
                let again = try await client.post(
                    "/v1/merge/people",
                    #"{ "changeset":{"items":[{"new":{"what":"Corn"},"id":-1.0,"old":null}],"person":{"points":{"new":1.5e1,"old":10.0}}},"key":"k1", "id":1}"#
                )
                #expect(again.status == 200)
                #expect(again.body == first.body)
                #expect(again.headers["idempotent-replayed"] == "true")
                let byHeader = try await client.post(
                    "/v1/merge/people", body.replacing(#""key":"k1","#, with: ""), ["Idempotency-Key": "k1"])
                #expect(byHeader.body == first.body)
                #expect(try await database.run("SELECT points FROM people WHERE id = 1;") == "16\n")
                #expect(try await database.run("SELECT COUNT(*) FROM items WHERE person = 1;") == "3\n")
                for (address, other) in [
                    ("/v1/merge/people", body.replacing("15", with: "16")),
                    ("/v1/push", #"{"key":"k1","edits":[]}"#),
                ] {
                    let reused = try await client.post(address, other)
                    #expect(reused.status == 422)
                    #expect(try reused.json()["code"]?.text == "key-reused")
                }
                // The gateway looks up a key before it compares the rules or finds another error.
                let stale = try await client.post(
                    "/v1/push", #"{"key":"k2","rules":"x","edits":[]}"#)
                #expect(stale.status == 409)
                let preview = try await client.post("/v1/merge/people?preview=true", body)
                #expect(try preview.json()["key"]?.isNull == true)
            }
        }
    }

    @Test("Two simultaneous pushes with one key are applied once", arguments: TestEngine.allCases)
    func simultaneous(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        try await RunningGateway.withTwo(database, rules: Self.rules) { one, two async throws in
            for round in 0..<10 {
                let body =
                    #"{"key":"round \#(round)","edits":[{"resource":"people","changeset":{"person":{"old":null,"new":{"name":"N\#(round)","points":1}},"items":[{"id":-1,"old":null,"new":{"what":"x"}}]}}]}"#
                try await database.run("UPDATE people SET points = points;")
                let answers = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                    for index in 0..<6 {
                        group.addTask {
                            try await (index % 2 == 0 ? one : two).client { try await $0.post("/v1/push", body) }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let settled = answers.filter { $0.status != 409 }
                #expect(!settled.isEmpty)
                #expect(Set(settled.map(\.text)).count == 1, "\(settled.map(\.text))")
                for waiting in answers where waiting.status == 409 {
                    #expect(try waiting.json()["code"]?.text == "in-progress")
                }
            }
        }
    }

    @Test("Keys of different tokens are different", arguments: TestEngine.allCases)
    func keysOfTokens(_ kind: TestEngine) async throws {
        let a = AccessToken.make()
        let b = AccessToken.make()
        let tokens = [
            a.line(name: "a", rights: [.read, .write]), b.line(name: "b", rights: [.read, .write, .operate]),
        ]
        try await Self.with(kind, tokens: tokens.joined(separator: "\n")) { gateway, database in
            let body = Self.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#, key: "same")
            let first = try await gateway.client(token: a.secret) {
                try await $0.post("/v1/merge/people", body)
            }
            #expect(try first.json()["outcomes"]?[0]?["outcome"]?.text == "applied")
            let second = try await gateway.client(token: b.secret) {
                try await $0.post("/v1/merge/people", body)
            }
            #expect(try second.json()["outcomes"]?[0]?["outcome"]?.text == "already")
            let entries = try await gateway.client(token: b.secret) {
                try await $0.get("/v1/journal?who=a")
            }
            // The second push changed nothing, so the journal has its key and no entry.
            #expect(try entries.json()["entries"]?.array.map { $0["who"]?.text } == ["a"])
        }
    }

    @Test("Refused pushes are stored", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func refused(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, journal: place) { gateway, database in
            try await gateway.client { client in
                try await database.run("UPDATE people SET state = 'sent' WHERE id = 1;")
                let body = Self.edit(
                    #"{"person":{"state":{"old":"new","new":"paid"},"name":{"old":"Ann","new":"A"}}}"#, key: "r")
                let rejected = try await client.post("/v1/merge/people", body)
                #expect(rejected.status == 409, "\(rejected.text)")
                // The refusal is stored, so a later change of the database does not affect it.
                try await database.run("UPDATE people SET state = 'new' WHERE id = 1;")
                let again = try await client.post("/v1/merge/people", body)
                #expect(again.status == 409)
                #expect(again.body == rejected.body)
                let failed = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"person":{"email":{"old":"a@x","new":"b@x"}}}"#))
                #expect(failed.status == 422)
                let listed = try await client.get("/v1/journal?outcome=rejected").json()["entries"]?.array ?? []
                #expect(listed.count == 1)
                #expect(listed[0]["refused"]?["reason"]?.text == "rejected")
                let number = listed[0]["number"]?.int ?? 0
                let whole = try await client.get("/v1/journal/\(number)").json()
                #expect(try whole["refused"]?["body"] == JSON(body))
                #expect(whole["outcomes"]?[0]?["outcome"]?.text == "rejected")
                let refused = try await client.get("/v1/journal?refused=true").json()["entries"]?.array ?? []
                #expect(refused.map { $0["refused"]?["reason"]?.text } == ["rejected", "unique"])
                let undo = try await client.post("/v1/journal/\(number)/undo", "{}")
                #expect(undo.status == 422)
                #expect(try undo.json()["code"]?.text == "nothing-to-undo")
            }
        }
    }

    @Test("The journal shows who changed which values", arguments: TestEngine.allCases)
    func history(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, database in
            try await gateway.client { client in
                try await database.run("UPDATE people SET name = 'Anne' WHERE id = 1;")
                let edit = try await client.post(
                    "/v1/merge/people",
                    Self.edit(
                        #"{"person":{"name":{"old":"Ann","new":"Anna"},"secret":{"old":"pin","new":"pen"}}}"#, key: "k"),
                    ["X-Device-ID": "tablet 7"])
                #expect(edit.status == 200)
                _ = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"person":{"points":{"old":20,"new":21}}}"#, id: 2))
                let entry = try #require(try await client.get("/v1/journal?resource=people&id=1").json()["entries"]?[0])
                #expect(entry["device"]?.text == "tablet 7")
                #expect(entry["key"]?.text == "k")
                #expect(entry["id"]?.int == 1)
                #expect(entry["rules"]?.text == (try await client.get("/v1/rules").json()["version"]?.text))
                let outcomes = entry["outcomes"]?.array ?? []
                #expect(outcomes.map { $0["outcome"]?.text } == ["client-won", "applied"])
                let name = outcomes[0]
                #expect(
                    [name["old"], name["current"], name["new"], name["written"]].map { $0?.text } == [
                        "Ann", "Anne", "Anna", "Anna",
                    ])
                #expect(name["rule"]?.text == "default")
                #expect(outcomes[1]["written"]?.text?.hasPrefix("hmac-sha256:") == true)
                #expect(outcomes[1]["old"]?.text != outcomes[1]["new"]?.text)
                for (query, count) in [
                    ("", 2), ("?outcome=client-won", 1), ("?outcome=applied&id=2&resource=people", 1),
                    ("?who=nobody", 0), ("?since=2000-01-01", 2), ("?since=2999-01-01T00:00:00Z", 0), ("?limit=1", 1),
                ] {
                    let listed = try await client.get("/v1/journal" + query)
                    #expect(try listed.json()["entries"]?.array.count == count, "\(query): \(listed.text)")
                }
                let page = try await client.get("/v1/journal?limit=1").json()
                let rest = try await client.get("/v1/journal?after=\(page["next"]?.text ?? "")").json()
                #expect(rest["entries"]?[0]?["id"]?.int == 2)
                #expect(rest["next"]?.isNull == true)
                for wrong in ["?since=soon", "?outcome=aplied", "?id=1", "?limit=x", "?after=x"] {
                    #expect(try await client.get("/v1/journal" + wrong).status == 400, "\(wrong)")
                }
                #expect(try await client.get("/v1/journal/999").status == 404)
                let ready = try await client.get("/readyz").json()["journal"]
                #expect(ready?["rowsOfLastDay"]?.int == 2)
                #expect((ready?["bytes"]?.int ?? 0) > 0)
            }
        }
    }

    @Test("An undo keeps later changes", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func undo(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, journal: place) { gateway, database in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people",
                    Self.edit(
                        #"{"person":{"name":{"old":"Ann","new":"Anna"},"points":{"old":10,"new":15},"email":{"old":"a@x","new":"c@x"}}}"#
                    ))
                // Other programs change the name and the points.
                try await database.run("UPDATE people SET name = 'Annika', points = points + 100 WHERE id = 1;")
                let preview = try await client.post("/v1/journal/1/undo?preview=true", "{}")
                #expect(preview.status == 200, "\(preview.text)")
                #expect(try await database.run("SELECT email FROM people WHERE id = 1;") == "c@x\n")
                let groups = #"{"groups":["person.email"]}"#
                let part = try await client.post("/v1/journal/1/undo", groups)
                #expect(try part.json()["outcomes"]?.array.count == 1)
                let undo = try await client.post("/v1/journal/1/undo", "{}")
                let outcomes = try undo.json()["outcomes"]?.array ?? []
                #expect(outcomes.map { $0["outcome"]?.text } == ["server-won", "combined"], "\(undo.text)")
                #expect(outcomes[0]["rule"]?.text == "undo")
                #expect(
                    try await database.run("SELECT name, email, points FROM people WHERE id = 1;")
                        == "Annika\ta@x\t110\n")
                // The undo is an entry, and can be undone.
                #expect(try await client.get("/v1/journal?after=1").json()["entries"]?.array.count == 2)
                let redo = try await client.post("/v1/journal/3/undo", "{}")
                #expect(redo.status == 200)
                #expect(try await database.run("SELECT points FROM people WHERE id = 1;") == "115\n")
                _ = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"person":{"secret":{"old":"pin","new":"pen"}}}"#))
                let named = try await client.post("/v1/journal/1/undo", groups)
                #expect(named.status == 200)
                #expect(try named.json()["outcomes"] == part.json()["outcomes"])
                // The journal does not contain values that were private at that time.
                #expect(try named.json()["record"]?["person"]?["secret"]?.text == "pen")
                let secret = try await client.post("/v1/journal/5/undo", "{}")
                #expect(secret.status == 422)
                #expect(try secret.json()["fields"]?.description == #"["secret"]"#)
            }
        }
    }

    @Test("An undo restores a deleted record with all its rows", arguments: TestEngine.allCases)
    func deletedRecord(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, database in
            try await gateway.client { client in
                let tables = ["people", "items", "notes", "marks"]
                func rows() async throws -> [String] {
                    var rows: [String] = []
                    for table in tables { rows.append(try await database.run("SELECT * FROM \(table) ORDER BY id;")) }
                    return rows
                }
                // The journal has no private values, so it can restore this record.
                let before = try await rows()
                let gone = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"person":{"old":{},"new":null}}"#, id: 2))
                #expect(gone.status == 200, "\(gone.text)")
                #expect(try await rows() != before)
                let undo = try await client.post("/v1/journal/1/undo", "{}")
                #expect(undo.status == 422, "the deleted row has a private field: \(undo.text)")
                let item = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"items":[{"id":2,"old":{"what":"Tea"},"new":null}]}"#))
                #expect(item.status == 200)
                let back = try await client.post("/v1/journal/2/undo", "{}")
                #expect(try back.json()["outcomes"]?[0]?["outcome"]?.text == "inserted", "\(back.text)")
                #expect(try await database.run("SELECT * FROM items WHERE id = 2;") == "2\t1\tTea\t9\n")
                // The undo of a creation deletes the row, unless another client has changed it.
                let created = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"items":[{"id":-1,"old":null,"new":{"what":"Rice"}}]}"#))
                let id = try created.json()["ids"]?["-1"]?.int ?? 0
                try await database.run("UPDATE items SET what = 'Wild rice' WHERE id = \(id);")
                let kept = try await client.post("/v1/journal/4/undo", "{}")
                #expect(try kept.json()["outcomes"]?[0]?["outcome"]?.text == "kept")
                try await database.run("UPDATE items SET what = 'Rice' WHERE id = \(id);")
                let taken = try await client.post("/v1/journal/4/undo", "{}")
                #expect(try taken.json()["outcomes"]?[0]?["outcome"]?.text == "deleted")
            }
        }
    }

    @Test("An undo restores rows that a cascade deleted", arguments: TestEngine.allCases)
    func cascades(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        let rules = [
            "people.yaml": (Self.rules["people.yaml"] ?? "").replacing(", private: true", with: ""),
            "notes.yaml": "resource: notes\nsections:\n  note: {table: notes, groups: {txt: txt}}\n",
        ]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client in
                func rows() async throws -> String {
                    var rows = ""
                    for table in ["people", "items", "notes", "marks"] {
                        rows += try await database.run("SELECT * FROM \(table) ORDER BY id;")
                    }
                    return rows
                }
                let before = try await rows()
                let gone = try await client.post("/v1/merge/people", Self.edit(#"{"person":{"old":{},"new":null}}"#))
                #expect(gone.status == 200, "\(gone.text)")
                #expect(try await rows() != before)
                let undo = try await client.post("/v1/journal/1/undo", "{}")
                #expect(undo.status == 200, "\(undo.text)")
                #expect(try await rows() == before)
            }
        }
    }

    @Test(
        "A missing row is restored from the journal", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func missingRow(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, journal: place) { gateway, database in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"person":{"points":{"old":20,"new":25}}}"#, id: 2))
                _ = try await client.post("/v1/merge/people", Self.edit(#"{"person":{"old":{},"new":null}}"#, id: 2))
                let restored = try await client.post(
                    "/v1/merge/people", Self.edit(#"{"person":{"email":{"old":"b@x","new":"bob@x"}}}"#, id: 2))
                #expect(try restored.json()["outcomes"]?[0]?["outcome"]?.text == "restored", "\(restored.text)")
                #expect(
                    try await database.run("SELECT name, email, points, unseen FROM people WHERE id = 2;")
                        == "Bob\tbob@x\t25\tu2\n")
            }
        }
    }
}
