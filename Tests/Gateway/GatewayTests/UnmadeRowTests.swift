import TestSupport
import Testing

/// Edits of rows that a refused edit should have created under the client's key.
@Suite struct UnmadeRowTests {
    private static let schema = """
        CREATE TABLE sites (code VARCHAR(8) NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, near VARCHAR(8),
          CONSTRAINT a_near FOREIGN KEY (near) REFERENCES sites (code));
        CREATE TABLE parts (part VARCHAR(8) NOT NULL PRIMARY KEY, site VARCHAR(8) NOT NULL, what VARCHAR(20) NOT NULL,
          amount INT NOT NULL DEFAULT 1, CONSTRAINT an_amount CHECK (amount > 0));
        CREATE TABLE tours (id INTEGER PRIMARY KEY, site VARCHAR(8));
        INSERT INTO sites (code, name) VALUES ('A', 'Alder');
        INSERT INTO tours (id) VALUES (1), (2);
        INSERT INTO parts (part, site, what) VALUES ('p1', 'A', 'Bolt');
        """
    private static let rules = [
        "sites.yaml": """
        resource: sites
        sections:
          site:
            table: sites
            on-missing: drop
            groups: {name: name, near: near}
          parts:
            list: true
            table: parts
            parent: {site: code}
            on-missing: drop
            groups: {what: what, amount: amount}
        """,
        "tours.yaml": """
        resource: tours
        sections:
          tour: {table: tours, groups: {site: {column: site, references: sites}}}
        """,
    ]
    private static let creation = edit("Z", #""site":{"old":null,"new":{"name":"Zinc","near":"none"}}"#)

    private static func edit(_ id: String, _ changeset: String) -> String {
        #"{"resource":"sites","id":"\#(id)","changeset":{\#(changeset)}}"#
    }

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func codes(
        of edits: [String], to client: HTTPClient.Session, key: String = "k1", expecting status: Int = 207
    ) async throws -> [String] {
        let answer = try await client.post(
            "/v1/push", #"{"atomic":"edit","key":"\#(key)","edits":[\#(edits.joined(separator: ","))]}"#)
        #expect(answer.status == status, "\(answer.text)")
        return try answer.json()["results"]?.array.map {
            $0["problem"]?["code"]?.text ?? $0["status"]?.text ?? ""
        } ?? []
    }

    @Test("An edit of a record that was not created is refused", arguments: TestEngine.allCases)
    func record(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database async throws in
            let edits = [
                Self.creation, Self.edit("A", #""site":{"name":{"old":"Alder","new":"Ash"}}"#),
                Self.edit("Z", #""site":{"name":{"old":"Zinc","new":"Zone"}}"#),
                Self.edit("Z", #""parts":[{"old":null,"id":"p2","new":{"what":"Nut"}}]"#),
                Self.edit("Z", #""site":{"old":{"name":"Zinc"},"new":null}"#),
                Self.edit("Y", #""site":{"name":{"old":"Yew","new":"Yes"}}"#),
            ]
            let expected = [
                "foreign-key", "merged", "depends-on-refused", "depends-on-refused", "depends-on-refused", "merged",
            ]
            #expect(try await Self.codes(of: edits, to: client) == expected)
            #expect(try await Self.codes(of: edits, to: client) == expected)
            #expect(try await database.run("SELECT code, name FROM sites ORDER BY code;") == "A\tAsh\n")
            #expect(try await database.run("SELECT part FROM parts;") == "p1\n")
        }
    }

    @Test("An edit of an item that was not created is refused", arguments: TestEngine.allCases)
    func item(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database async throws in
            let edits = [
                Self.edit("A", #""parts":[{"old":null,"id":"p2","new":{"what":"Nut","amount":0}}]"#),
                Self.edit("A", #""parts":[{"id":"p2","what":{"old":"Nut","new":"Nail"}}]"#),
                Self.edit("A", #""parts":[{"id":"p1","what":{"old":"Bolt","new":"Belt"}}]"#),
            ]
            #expect(try await Self.codes(of: edits, to: client) == ["check", "depends-on-refused", "merged"])
            #expect(try await database.run("SELECT part, what FROM parts ORDER BY part;") == "p1\tBelt\n")
        }
    }

    /// No foreign key of the database would refuse this reference.
    @Test("A reference to a record that was not created is refused", arguments: TestEngine.allCases)
    func reference(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database async throws in
            func tour(_ id: Int, _ site: String) -> String {
                #"{"resource":"tours","id":\#(id),"changeset":{"tour":{"site":{"old":null,"new":"\#(site)"}}}}"#
            }
            let edits = [
                Self.creation, tour(1, "Z"), tour(2, "A"),
                #"{"resource":"tours","id":3,"changeset":{"tour":{"old":null,"new":{"site":"Z"}}}}"#,
            ]
            let expected = ["foreign-key", "depends-on-refused", "merged", "depends-on-refused"]
            #expect(try await Self.codes(of: edits, to: client) == expected)
            #expect(try await database.run("SELECT id FROM tours WHERE site IS NULL;") == "1\n")
            #expect(try await database.run("SELECT id, site FROM tours WHERE site IS NOT NULL;") == "2\tA\n")
        }
    }

    /// The row may be there all the same: from before the push, or because another edit creates it.
    @Test("An edit of an existing row is applied", arguments: TestEngine.allCases)
    func existingRow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database async throws in
            let again = Self.edit("Z", #""site":{"old":null,"new":{"name":"Zinc"}}"#)
            let edits = [
                Self.creation, again, Self.edit("Z", #""site":{"name":{"old":"Zinc","new":"Zone"}}"#),
                Self.edit("A", #""parts":[{"old":null,"id":"p1","new":{"what":"Nut","amount":0}}]"#),
                Self.edit("A", #""parts":[{"id":"p1","what":{"old":"Bolt","new":"Belt"}}]"#),
            ]
            let codes = try await Self.codes(of: edits, to: client)
            #expect(codes == ["foreign-key", "merged", "merged", "check", "merged"])
            #expect(try await database.run("SELECT code, name FROM sites ORDER BY code;") == "A\tAlder\nZ\tZone\n")
            #expect(try await database.run("SELECT part, what FROM parts;") == "p1\tBelt\n")
        }
    }

    @Test("A refused creation does not affect a later push", arguments: TestEngine.allCases)
    func otherPushes(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ async throws in
            #expect(try await Self.codes(of: [Self.creation], to: client, expecting: 422) == ["foreign-key"])
            let edit = Self.edit("Z", #""site":{"name":{"old":"Zinc","new":"Zone"}}"#)
            #expect(try await Self.codes(of: [edit], to: client, key: "k2", expecting: 200) == ["merged"])
        }
    }
}
