import Testing
import TestSupport

/// Restored rows have their last known values after a deletion through any resource.
@Suite struct RestoreTests {
    private static let sql = """
        CREATE TABLE homes (id INTEGER PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE things (id INTEGER PRIMARY KEY /*numbered*/, home INTEGER NOT NULL, name VARCHAR(20), size INTEGER,
          legacy VARCHAR(20), gone INTEGER NOT NULL DEFAULT 0);
        INSERT INTO homes VALUES (1, 'a'), (2, 'b');
        INSERT INTO things VALUES (10, 1, 'lamp', 7, 'old', 0), (11, 1, 'rug', 8, 'older', 0);
        """
    private static let groups =
        "on-missing: restore\n    undo-columns: [home, legacy, gone]\n    groups: {name: name, size: size}"
    private static let rules = [
        "homes.yaml": """
        resource: homes
        sections:
          home: {table: homes, groups: {name: name}}
          things:
            list: true
            table: things
            parent: home
            \(groups)
        """,
        "things.yaml": """
        resource: things
        sections:
          thing:
            table: things
            \(groups)
        """,
        "goods.yaml": """
        resource: goods
        sections:
          good:
            table: things
            undo-columns: all
            groups: {title: {column: name}, size: size}
        """,
        "kept.yaml": """
        resource: kept
        sections:
          thing:
            table: things
            where: gone = 0
            delete: {set: {gone: 1}}
            groups: {name: name, size: size}
        """,
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: sql.replacing("/*numbered*/", with: "AUTO_INCREMENT"), sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func push(_ edits: String...) -> String { #"{"edits":[\#(edits.joined(separator: ","))]}"# }

    private static func delete(_ resource: String, _ section: String, _ fields: String) -> String {
        #"{"resource":"\#(resource)","id":10,"changeset":{"\#(section)":{"old":\#(fields),"new":null}}}"#
    }

    private static let rename =
        #"{"resource":"things","id":10,"changeset":{"thing":{"name":{"old":"lamp","new":"light"}}}}"#
    private static let deletion = delete("goods", "good", #"{"title":"lamp","size":7}"#)

    private static func thing(_ database: TestDatabase) async throws -> String {
        try await database.run("SELECT id, home, name, size, legacy, gone FROM things WHERE id = 10;")
            .replacing("\n", with: "").replacing("|", with: "\t")
    }

    @Test("A row that another resource deleted is restored completely", arguments: TestEngine.allCases)
    func otherResource(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            #expect(try await client.post("/v1/push", Self.push(Self.deletion)).status == 200)
            let answer = try await client.post("/v1/push", Self.push(Self.rename))
            #expect(answer.text.contains(#""outcome":"restored""#), "\(answer.text)")
            #expect(try await Self.thing(database) == "10\t1\tlight\t7\told\t0")
        }
    }

    @Test("An item that was deleted as a record is restored completely", arguments: TestEngine.allCases)
    func itemAndRecord(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            #expect(try await client.post("/v1/push", Self.push(Self.deletion)).status == 200)
            let item =
                #"{"resource":"homes","id":1,"changeset":{"things":[{"id":10,"name":{"old":"lamp","new":"light"}}]}}"#
            let answer = try await client.post("/v1/push", Self.push(item))
            #expect(answer.text.contains(#""outcome":"restored""#), "\(answer.text)")
            #expect(try await Self.thing(database) == "10\t1\tlight\t7\told\t0")
        }
    }

    @Test("Values that another resource wrote last are restored", arguments: TestEngine.allCases)
    func otherWrites(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let size = #"{"resource":"goods","id":10,"changeset":{"good":{"size":{"old":7,"new":9}}}}"#
            #expect(try await client.post("/v1/push", Self.push(size)).status == 200)
            try await database.run("DELETE FROM things WHERE id = 10;")
            // The journal has no deletion with the row's home, and the database has no default for it.
            let home =
                #"{"resource":"homes","id":1,"changeset":{"things":[{"id":10,"name":{"old":"lamp","new":"light"}}]}}"#
            let answer = try await client.post("/v1/push", Self.push(home))
            #expect(answer.text.contains(#""outcome":"restored""#), "\(answer.text)")
            #expect(try await Self.thing(database).hasPrefix("10\t1\tlight\t9\t"))
        }
    }

    /// The values come from entries of this record or of another resource, before and after the deletion.
    @Test("Each of many rows is restored with its values", arguments: TestEngine.allCases)
    func manyRows(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            func home(_ things: String...) -> String {
                #"{"resource":"homes","id":1,"changeset":{"things":[\#(things.joined(separator: ","))]}}"#
            }
            func thing(_ id: Int, _ group: String, _ old: String, _ new: String) -> String {
                #"{"id":\#(id),"\#(group)":{"old":\#(old),"new":\#(new)}}"#
            }
            try await database.run("INSERT INTO things VALUES (12, 1, 'cup', 1, 'c', 0), (13, 2, 'fork', 2, 'f', 0);")
            let rug = #"{"resource":"goods","id":11,"changeset":{"good":{"title":{"old":"rug","new":"mat"}}}}"#
            let pushes = [
                home(thing(10, "name", "\"lamp\"", "\"light\""), thing(11, "size", "8", "80")), rug,
                home(thing(12, "name", "\"cup\"", "\"mug\"")),
                // The deletion has all values of 12. Another program deletes 10 and 11.
                home(#"{"id":12,"old":{"name":"mug","size":1},"new":null}"#),
            ]
            for push in pushes { #expect(try await client.post("/v1/push", Self.push(push)).status == 200) }
            try await database.run("DELETE FROM things WHERE id IN (10, 11, 13);")
            let answer = try await client.post(
                "/v1/push",
                Self.push(
                    home(thing(10, "size", "7", "9"), thing(11, "size", "80", "81"), thing(12, "size", "1", "3")),
                    home(thing(13, "name", "\"fork\"", "\"spoon\""), thing(10, "name", "\"light\"", "\"lit\""))))
            #expect(answer.status == 200, "\(answer.text)")
            let rows = try await database.run("SELECT id, home, name, size, legacy FROM things ORDER BY id;")
                .replacing("|", with: "\t").replacing("NULL", with: "")
            #expect(
                rows == "10\t1\tlit\t9\t\n11\t1\tmat\t81\t\n12\t1\tmug\t3\tc\n13\t1\tspoon\t\t\n", "\(answer.text)")
        }
    }

    @Test("A row that the same push deleted is restored completely", arguments: TestEngine.allCases)
    func samePush(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post("/v1/push", Self.push(Self.deletion, Self.rename))
            #expect(answer.text.contains(#""outcome":"restored""#), "\(answer.text)")
            #expect(try await Self.thing(database) == "10\t1\tlight\t7\told\t0")
        }
    }

    @Test(
        "A preview shows the restored rows, also those that the same push deletes", arguments: TestEngine.allCases,
        [false, true])
    func preview(_ kind: TestEngine, _ isOnePush: Bool) async throws {
        try await Self.with(kind) { client, database in
            if !isOnePush {
                #expect(try await client.post("/v1/push", Self.push(Self.deletion)).status == 200)
            }
            let push = isOnePush ? Self.push(Self.deletion, Self.rename) : Self.push(Self.rename)
            let before = try await Self.thing(database)
            let preview = try await client.post("/v1/push?preview=true", push)
            #expect(try await Self.thing(database) == before)
            let answer = try await client.post("/v1/push", push)
            #expect(answer.text.contains(#""outcome":"restored""#), "\(answer.text)")
            #expect(try preview.json()["results"] == answer.json()["results"], "\(preview.text)\n\(answer.text)")
        }
    }

    /// Other clients' later changes of the hidden row are kept.
    @Test("The undo of a soft deletion shows the row again", arguments: TestEngine.allCases)
    func softDeletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let deletion = Self.delete("kept", "thing", #"{"name":"lamp","size":7}"#)
            #expect(try await client.post("/v1/push", Self.push(deletion)).status == 200)
            #expect(try await Self.thing(database) == "10\t1\tlamp\t7\told\t1")
            try await database.run("UPDATE things SET legacy = 'newer' WHERE id = 10;")
            let undo = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undo.status == 200, "\(undo.text)")
            #expect(try undo.json()["key"]?.text == "undo:1")
            #expect(try undo.json()["record"]?["thing"]?["name"]?.text == "lamp")
            #expect(try await Self.thing(database) == "10\t1\tlamp\t7\tnewer\t0")
            // The undo is an entry like any other.
            let redo = try await client.post("/v1/journal/2/undo", "{}")
            #expect(redo.status == 200, "\(redo.text)")
            #expect(try await Self.thing(database) == "10\t1\tlamp\t7\tnewer\t1")
        }
    }

    /// A row that was never created has no key for a restore.
    @Test("A row that was never created is not restored", arguments: TestEngine.allCases)
    func neverCreated(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let creation =
                #"{"resource":"homes","id":9,"changeset":{"things":[{"id":"tmp:t","old":null,"new":{"name":"cup"}}]}}"#
            let edit = #"{"resource":"things","id":"tmp:t","changeset":{"thing":{"name":{"old":"cup","new":"mug"}}}}"#
            let answer = try await client.post("/v1/push", Self.push(creation, edit))
            let results = try answer.json()["results"]?.array ?? []
            #expect(
                results.map { $0["outcomes"]?[0]?["outcome"]?.text } == ["missing", "missing"], "\(answer.text)")
            #expect(try await database.run("SELECT count(*) FROM things;") == "2\n")
        }
    }
}
