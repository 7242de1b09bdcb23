import Testing
import TestSupport

/// The wire contract from HTTP to SQL and back, on both engines.
@Suite struct MergeTests {
    static let mariadb = """
        CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, email VARCHAR(40) UNIQUE,
          street VARCHAR(40), town VARCHAR(40), credit DECIMAL(8,2) NOT NULL DEFAULT 0, state VARCHAR(10),
          friend INT NULL, CONSTRAINT credit_floor CHECK (credit >= 0),
          CONSTRAINT a_friend FOREIGN KEY (friend) REFERENCES people (id)) ENGINE=InnoDB;
        CREATE TABLE items (id INT PRIMARY KEY AUTO_INCREMENT, person INT NOT NULL, what VARCHAR(40) NOT NULL,
          FOREIGN KEY (person) REFERENCES people (id)) ENGINE=InnoDB;
        CREATE TABLE profiles (person INT PRIMARY KEY, motto VARCHAR(40)) ENGINE=InnoDB;
        CREATE TABLE notes (id INT PRIMARY KEY, person INT, FOREIGN KEY (person) REFERENCES people (id)
          ON DELETE CASCADE) ENGINE=InnoDB;
        CREATE TABLE marks (id INT PRIMARY KEY, note INT, FOREIGN KEY (note) REFERENCES notes (id)
          ON DELETE SET NULL) ENGINE=InnoDB;
        """ + rows
    static let sqlite = """
        CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(40) NOT NULL, email VARCHAR(40) UNIQUE,
          street VARCHAR(40), town VARCHAR(40), credit DECIMAL(8,2) NOT NULL DEFAULT 0, state VARCHAR(10),
          friend INT NULL REFERENCES people (id), CONSTRAINT credit_floor CHECK (credit >= 0));
        CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, person INT NOT NULL REFERENCES people (id),
          what VARCHAR(40) NOT NULL);
        CREATE TABLE profiles (person INTEGER PRIMARY KEY, motto VARCHAR(40));
        CREATE TABLE notes (id INTEGER PRIMARY KEY, person INT REFERENCES people (id) ON DELETE CASCADE);
        CREATE TABLE marks (id INTEGER PRIMARY KEY, note INT REFERENCES notes (id) ON DELETE SET NULL);
        """ + rows
    private static let rows = """
        INSERT INTO people (id, name, email, street, town, credit, state) VALUES
          (1, 'Ann', 'a@x', 'High St', 'Kent', 10.5, 'new'), (2, 'Bob', 'b@x', 'Low St', 'York', 20, 'new');
        INSERT INTO items (id, person, what) VALUES (1, 1, 'Beans'), (2, 1, 'Tea'), (3, 2, 'Jam');
        INSERT INTO profiles VALUES (1, 'Onwards');
        INSERT INTO notes VALUES (7, 1), (8, 2);
        INSERT INTO marks VALUES (70, 7), (80, 8);
        """
    static let rules = [
        "people.yaml": """
        resource: people
        sections:
          person:
            table: people
            on-missing: drop
            groups:
              name: name
              email: email
              address: {fields: {street: street, town: town}}
              credit: {column: credit, on-conflict: server-wins}
              state: {column: state, on-conflict: reject}
              friend: friend
          profile:
            table: profiles
            parent: {person: id}
            groups: {motto: motto}
          items:
            list: true
            table: items
            parent: {person: id}
            on-delete-conflict: keep
            groups: {what: what}
        """
    ]

    private static func with(
        _ kind: TestEngine, journal: JournalPlace? = nil,
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: mariadb, sqlite: sqlite)
        try await RunningGateway.with(database, rules: rules, journal: journal) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    @Test("A collision names the index, the fields and the record", arguments: TestEngine.allCases)
    func collision(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("UPDATE people SET town = 'Bath' WHERE id = 1;")
            let answer = try await client.post(
                "/v1/merge/people",
                #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"},"address":{"old":{"street":"High St","town":"Kent"},"new":{"street":"New St","town":"Kent"}}}}}"#
            )
            #expect(answer.status == 200)
            let json = try answer.json()
            #expect(json["status"]?.text == "merged")
            #expect(
                json["outcomes"]
                    == (try JSON(
                        #"[{"section":"person","group":"name","outcome":"applied","rule":"default"},{"section":"person","group":"address","outcome":"client-won","rule":"default","conflict":true,"old":{"street":"High St","town":"Kent"},"current":{"street":"High St","town":"Bath"},"new":{"street":"New St","town":"Kent"},"written":{"street":"New St","town":"Kent"}}]"#
                    )))
            #expect(json["record"]?["person"]?["town"]?.text == "Kent")
            #expect(json["record"]?["profile"]?["motto"]?.text == "Onwards")
        }
    }

    @Test("A rejected push writes nothing", arguments: TestEngine.allCases)
    func rejected(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/push",
                #"{"edits":[{"resource":"people","id":2,"changeset":{"person":{"name":{"old":"Bob","new":"Rob"}}}},{"resource":"people","id":1,"changeset":{"person":{"state":{"old":"old","new":"gone"}}}}]}"#
            )
            #expect(answer.status == 409)
            let json = try answer.json()
            #expect(json["status"]?.text == "rejected")
            #expect(json["results"]?.array.map { $0["status"]?.text } == ["rejected", "rejected"])
            #expect(json["results"]?.array.allSatisfy { $0["ids"] == nil } == true)
            #expect(json["results"]?[0]?["outcomes"]?.array.isEmpty == true)
            #expect(json["results"]?[0]?["record"]?["person"]?["name"]?.text == "Bob")
            #expect(json["results"]?[1]?["outcomes"]?[0]?["written"]?.text == "new")
            #expect(json["results"]?[1]?["problem"]?["retry"]?.bool == false)
            #expect(json["results"]?[0]?["problem"]?["code"]?.text == "rolled-back")
            #expect(json["problem"] == json["results"]?[1]?["problem"])
            #expect(try await database.run("SELECT name FROM people WHERE id = 2;") == "Bob\n")
        }
    }

    @Test(
        "A rejection by a policy is the push's problem, also if the database would refuse another edit",
        arguments: TestEngine.allCases, [false, true])
    func rejectionFirst(_ kind: TestEngine, _ isFirst: Bool) async throws {
        try await Self.with(kind) { client, database in
            let refused = #"{"resource":"people","id":2,"changeset":{"person":{"email":{"old":"b@x","new":"a@x"}}}}"#
            let rejected = #"{"resource":"people","id":1,"changeset":{"person":{"state":{"old":"old","new":"gone"}}}}"#
            let edits = isFirst ? [rejected, refused] : [refused, rejected]
            let answer = try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
            #expect(answer.status == 409, "\(answer.text)")
            let json = try answer.json()
            let codes = json["results"]?.array.map { $0["problem"]?["code"]?.text }
            #expect(codes.map(Set.init) == ["rejected", "unique"], "\(answer.text)")
            #expect(json["problem"]?["code"]?.text == "rejected")
        }
    }

    @Test("With atomic: edit, each edit is applied or refused alone", arguments: TestEngine.allCases)
    func atomicEdits(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/push",
                #"{"atomic":"edit","key":"k1","edits":[{"resource":"people","id":1,"changeset":{"person":{"email":{"old":"a@x","new":"b@x"}}}},{"resource":"people","id":2,"changeset":{"person":{"name":{"old":"Bob","new":"Rob"}}}},{"resource":"people","id":-1,"changeset":{"person":{"old":null,"new":{"name":"N","credit":"-1"}}}},{"resource":"people","id":2,"changeset":{"person":{"friend":{"old":null,"new":-1}}}}]}"#
            )
            #expect(answer.status == 207)
            let json = try answer.json()
            #expect(json["key"]?.text == "k1")
            #expect(json["results"]?.array.map { $0["status"]?.text } == ["failed", "merged", "failed", "failed"])
            let collision = json["results"]?[0]?["problem"]
            #expect(collision?["fields"] == (try JSON(#"["email"]"#)))
            #expect(collision?["record"] == (try JSON(#"{"resource":"people","id":2}"#)))
            #expect(json["results"]?[2]?["problem"]?["constraint"]?.text == "credit_floor")
            #expect(json["results"]?[3]?["problem"]?["code"]?.text == "depends-on-refused")
            #expect(try await database.run("SELECT email, name FROM people ORDER BY id;") == "a@x\tAnn\nb@x\tRob\n")
        }
    }

    @Test("Temporary ids are replaced everywhere", arguments: TestEngine.allCases)
    func temporaryIDs(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/push",
                #"{"edits":[{"resource":"people","id":1,"changeset":{"person":{"friend":{"old":null,"new":"tmp:new"}}}},{"resource":"people","id":"tmp:new","changeset":{"items":[{"id":-7,"old":null,"new":{"what":"Rice"}},{"old":null,"new":{"what":"Salt"}}],"person":{"old":null,"new":{"name":"Cat"}},"profile":{"old":null,"new":{"motto":"Hm"}}}},{"resource":"people","id":"tmp:new","changeset":{"person":{"name":{"old":"Cat","new":"Kat"}}}}]}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
            let json = try answer.json()
            let id = try #require(json["results"]?[1]?["ids"]?["tmp:new"]?.int)
            #expect(json["results"]?[0]?["record"]?["person"]?["friend"]?.int == id)
            #expect(json["results"]?[1]?["id"]?.int == id)
            #expect(json["results"]?[2]?["record"]?["person"]?["name"]?.text == "Kat")
            let item = try #require(json["results"]?[1]?["ids"]?["-7"]?.int)
            #expect(
                try await database.run("SELECT what FROM items WHERE person = \(id) ORDER BY id;") == "Rice\nSalt\n")
            #expect(json["results"]?[1]?["record"]?["items"]?[0]?["id"]?.int == item)
            #expect(try await database.run("SELECT motto FROM profiles WHERE person = \(id);") == "Hm\n")
        }
    }

    @Test("A deletion of a record deletes its rows", arguments: TestEngine.allCases)
    func deletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/merge/people", #"{"id":1,"changeset":{"person":{"old":{"name":"Other"},"new":null}}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let json = try answer.json()
            #expect(json["record"]?.isNull == true)
            #expect(json["outcomes"]?[0]?["conflict"]?.bool == true)
            #expect(json["outcomes"]?.array.map { $0["outcome"]?.text } == Array(repeating: "deleted", count: 4))
            #expect(json["outcomes"]?.array.allSatisfy { $0["current"] != nil } == true)
            #expect(try await database.run("SELECT count(*) FROM items WHERE person = 1;") == "0\n")
            // Deleted rows are named although no client can read their tables.
            let cascades =
                #"[{"table":"notes","effect":"delete","rows":[{"id":7}]},{"table":"marks","effect":"set-null","rows":[{"id":70}]}]"#
            #expect(json["outcomes"]?[0]?["cascades"] == (try JSON(cascades)), "\(answer.text)")
            #expect(try await database.run("SELECT count(*) FROM notes;") == "1\n")
            #expect(try await database.run("SELECT count(*) FROM profiles;") == "0\n")
        }
    }

    @Test("An item that its own deletion kept is deleted with its record, once", arguments: TestEngine.allCases)
    func keptItemOfADeletedRecord(_ kind: TestEngine) async throws {
        try await Self.with(kind, journal: .together) { client, database in
            let answer = try await client.post(
                "/v1/merge/people",
                #"{"id":1,"changeset":{"person":{"old":{"name":"Ann"},"new":null},"items":[{"id":1,"old":{"what":"Peas"},"new":null}]}}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
            let outcomes = try answer.json()["outcomes"]?.array ?? []
            #expect(outcomes.map { $0["outcome"]?.text } == Array(repeating: "deleted", count: 4), "\(answer.text)")
            let item = outcomes.filter { $0["section"]?.text == "items" && $0["id"]?.int == 1 }
            #expect(
                item == [
                    try JSON(
                        #"{"section":"items","id":1,"outcome":"deleted","rule":"default","conflict":true,"old":{"what":"Peas"},"current":{"what":"Beans"},"new":null,"written":null}"#
                    )
                ])
            let undo = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undo.status == 200, "\(undo.text)")
            #expect(try await database.run("SELECT what FROM items WHERE person = 1 ORDER BY id;") == "Beans\nTea\n")
        }
    }

    @Test("The answer names rows that a deletion deletes or keeps", arguments: TestEngine.allCases)
    func cascades(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/merge/people",
                #"{"id":1,"changeset":{"items":[{"id":1,"old":{"what":"Peas"},"new":null},{"id":99,"old":{"what":"x"},"new":null},{"id":3,"what":{"old":"Jam","new":"Ham"}},{"id":2,"what":{"old":"Tea","new":"Green tea"}}]}}"#
            )
            let json = try answer.json()
            #expect(json["outcomes"]?.array.map { $0["outcome"]?.text } == ["kept", "already", "missing", "applied"])
            #expect(json["outcomes"]?[0]?["written"]?["what"]?.text == "Beans")
            #expect(json["outcomes"]?[2]?["written"]?.isNull == true)
            // Item 3 belongs to another record and is untouched.
            #expect(try await database.run("SELECT what FROM items ORDER BY id;") == "Beans\nGreen tea\nJam\n")
        }
    }

    @Test("A digest can replace the base", arguments: TestEngine.allCases)
    func digest(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            // SHA-256 of {"street":"High St","town":"Kent"}, computed by another program.
            let digest = try await Shell.run(
                ["sha256sum"], input: #"{"street":"High St","town":"Kent"}"#
            ).prefix(64)
            let answer = try await client.post(
                "/v1/merge/people",
                #"{"id":1,"changeset":{"person":{"address":{"oldHash":"sha256:\#(digest)","new":{"street":"S","town":"T"}}}}}"#
            )
            #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(answer.text)")
        }
    }

    @Test(arguments: TestEngine.allCases) func pagesAndTags(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let first = try await client.get("/v1/records/people?limit=1").json()
            #expect(first["records"]?.array.count == 1)
            #expect(first["next"]?.text == "1")
            let second = try await client.get("/v1/records/people?limit=1&after=1").json()
            #expect(second["records"]?[0]?["id"]?.int == 2)
            #expect(second["next"]?.isNull == true)
            let record = try await client.get("/v1/records/people/1")
            let tag = try #require(record.headers["etag"])
            #expect(try await client.get("/v1/records/people/1", ["If-None-Match": tag]).status == 304)
            try await database.run("UPDATE items SET what = 'Peas' WHERE id = 1;")
            #expect(try await client.get("/v1/records/people/1", ["If-None-Match": tag]).status == 200)
            #expect(try await client.get("/v1/records/people/7").status == 404)
            #expect(try await client.get("/v1/records/people/x").status == 400)
            #expect(try await client.get("/v1/records/nobody/1").status == 404)
            #expect(try await client.get("/v1/records/people?limit=many").status == 400)
        }
    }
}
