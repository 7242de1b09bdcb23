import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// `--keep-foreign`: the journal shows values that other programs overwrote, and can undo these changes.
@Suite(.timeLimit(.minutes(5))) struct KeepForeignTests {
    private static let sql = """
        CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20), pin VARCHAR(20), sign VARCHAR(20) COMPRESSED,
          card VARCHAR(20) DEFAULT 'none');
        CREATE TABLE notes (id INT PRIMARY KEY, person INT, txt VARCHAR(20), due DATE);
        INSERT INTO people VALUES (1, 'Ann', 'secret-1', 'x', 'card-1'), (2, 'Bob', 'secret-2', 'x', 'card-2');
        INSERT INTO notes VALUES (1, 1, 'first', '2026-11-01'), (2, 2, 'second', NULL);
        """

    /// Notes are a resource, and rows of people.
    private static let rules = [
        "people.yaml": """
        resource: people
        sections:
          person:
            table: people
            undo-columns: [card]
            groups: {name: name, pin: {column: pin, private: true}, sign: sign}
          notes: {list: true, table: notes, parent: person, groups: {txt: txt, due: due}}
        """,
        "notes.yaml": """
        resource: notes
        sections:
          note: {table: notes, groups: {txt: txt, due: due, person: person}}
        """,
    ]

    private static func with(
        server: PrivateMariaDB? = nil,
        _ body: @escaping @Sendable (TestDatabase, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await BinlogFixture.database(sql, server: server)
        try await RunningGateway.with(
            database, rules: rules, journal: .together,
            configure: {
                ScanFixture.configure(&$0, log: .expected)
                $0.keepsForeign = true
            },
            { gateway async throws in
                try await gateway.client { try await body(database, $0) }
            })
    }

    /// The entries after a number, oldest first.
    private static func entries(_ client: HTTPClient.Session, after number: Int = 0) async throws -> [JSON] {
        try await client.get("/v1/journal?after=\(number)&limit=100").json()["entries"]?.array ?? []
    }

    /// Runs SQL, waits until records have entries, and returns the new entries.
    private static func run(
        _ sql: String, until names: Set<String>, _ database: TestDatabase, _ client: HTTPClient.Session
    ) async throws -> [JSON] {
        var position = try await client.position()
        let last = try await entries(client).last?["number"]?.int ?? 0
        try await database.run(sql)
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let found = try await entries(client, after: last)
            if names.isSubset(of: found.map(name)) { return found }
            try #require(.now < end, "no entries of \(names) among \(found)")
            let page = try await client.get("/v1/changes?since=\(position.revision)&feed=\(position.feed)&wait=5")
                .json()
            position.revision = page["revision"]?.int ?? position.revision
        }
    }

    private static func name(_ entry: JSON) -> String {
        "\(entry["resource"]?.text ?? "")/\(entry["id"].map(\.description) ?? "")"
    }

    @Test(
        "An overwritten value is in the entries of each resource, and an undo restores it", .tags(.mariadb),
        .needsMariaDB)
    func overwrittenValue() async throws {
        try await Self.with { database, client async throws in
            try await client.followsLog()
            let found = try await Self.run(
                "UPDATE notes SET txt = 'lost', due = NULL WHERE id = 1;", until: ["people/1", "notes/1"], database,
                client)
            #expect(Set(found.map(Self.name)) == ["people/1", "notes/1"], "\(found)")
            for entry in found {
                #expect(entry["who"]?.text == "foreign program" && entry["status"]?.text == "merged")
                let outcomes = entry["outcomes"]?.array ?? []
                #expect(outcomes.map { $0["group"]?.text } == ["txt", "due"])
                #expect(outcomes.first?["current"]?.text == "first" && outcomes.first?["written"]?.text == "lost")
                #expect(outcomes.last?["current"]?.text == "2026-11-01" && outcomes.last?["written"]?.isNull == true)
            }
            let number = try #require(found.first { Self.name($0) == "people/1" }?["number"]?.int)
            let preview = try await client.post("/v1/journal/\(number)/undo?preview=true", "{}")
            #expect(preview.status == 200, "\(preview.text)")
            #expect(try await database.run("SELECT txt FROM notes WHERE id = 1;") == "lost\n")
            let undone = try await client.post("/v1/journal/\(number)/undo", "{}")
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await database.run("SELECT txt, due FROM notes WHERE id = 1;") == "first\t2026-11-01\n")
        }
    }

    @Test("A push has its own entry only, and a conflict names no program", .tags(.mariadb), .needsMariaDB)
    func pushes() async throws {
        try await Self.with { database, client async throws in
            try await client.followsLog()
            let edit = #"{"edits":[\#(FeedFixture.edit("notes", 2, "txt", #""second""#, #""mine""#))]}"#
            #expect(try await client.post("/v1/push", edit).status == 200)
            let found = try await Self.run(
                "UPDATE notes SET txt = 'theirs' WHERE id = 2;", until: ["people/2", "notes/2"], database, client)
            #expect(Set(found.map(Self.name)) == ["people/2", "notes/2"])
            #expect(try await Self.entries(client).count == 3)
            let conflict = try await client.post("/v1/push?by=true", edit).json()
            #expect(conflict["results"]?[0]?["outcomes"]?[0]?["by"]?.isNull == true, "\(conflict)")
        }
    }

    /// A name is overwritten, and a row of the list is deleted.
    @Test("An erasure removes the values of foreign entries of a record, and no others", .tags(.mariadb), .needsMariaDB)
    func erasure() async throws {
        try await Self.with { database, client async throws in
            try await client.followsLog()
            _ = try await Self.run(
                "UPDATE people SET name = 'Anastasia' WHERE id = 1; DELETE FROM notes WHERE id = 1;"
                    + "UPDATE people SET name = 'Robert' WHERE id = 2;",
                until: ["people/1", "notes/1", "people/2"], database, client)
            let folder = try TemporaryFolder(files: Self.rules)
            let erased = try await Shell.capture(
                [CommandLineTests.program, "journal", "erase", "--resource", "people", "--id", "1", "--yes"],
                environment: [
                    "FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path,
                    "FIELDMERGE_JOURNAL": database.journalURL,
                ])
            #expect(erased.status == 0, "\(erased)")
            let entries = try await Self.entries(client)
            for entry in entries {
                let isOfAnn = ["people/1", "notes/1"].contains(Self.name(entry))
                #expect((entry["erased"] != nil) == isOfAnn, "\(entry)")
                guard isOfAnn else { continue }
                for word in ["Ann", "Anastasia", "first", "card-1"] { #expect(!"\(entry)".contains(word), "\(entry)") }
                let undo = try await client.post("/v1/journal/\(entry["number"]?.int ?? 0)/undo", "{}")
                #expect(try undo.json()["code"]?.text == "private", "\(undo.text)")
            }
            let kept = try await database.runOnJournal("SELECT CONVERT(entry USING latin1) FROM entries;")
            for word in ["Ann", "Anastasia", "first"] { #expect(!kept.contains(word), "\(kept)") }
            #expect(kept.contains("Robert"))
        }
    }

    @Test("A deleted row is restored with the columns of the rules and undo-columns", .tags(.mariadb), .needsMariaDB)
    func deletedRow() async throws {
        try await Self.with { database, client async throws in
            try await client.followsLog()
            let found = try await Self.run(
                "DELETE FROM notes WHERE id = 2;", until: ["people/2", "notes/2"], database, client)
            let number = try #require(found.first { Self.name($0) == "notes/2" }?["number"]?.int)
            #expect(try await client.post("/v1/journal/\(number)/undo", "{}").status == 200)
            #expect(try await database.run("SELECT * FROM notes WHERE id = 2;") == "2\t2\tsecond\tNULL\n")
            // A private value is a digest, so this row cannot be restored, and neither value is in the journal.
            let person = try await Self.run("DELETE FROM people WHERE id = 2;", until: ["people/2"], database, client)
            let entry = try #require(person.first { Self.name($0) == "people/2" })
            #expect(!"\(entry)".contains("secret-2") && !"\(entry)".contains("card-2"))
            let refused = try await client.post("/v1/journal/\(try #require(entry["number"]?.int))/undo", "{}")
            #expect(refused.status != 200, "\(refused.text)")
            let journal = try await UndoColumnsTests.journal(database)
            func hex(_ text: String) -> String { text.utf8.map { String($0, radix: 16, uppercase: true) }.joined() }
            #expect(!journal.contains(hex("secret-2")))
        }
    }

    @Test("An inserted row can be deleted, and a value that cannot be decoded is named", .tags(.mariadb), .needsMariaDB)
    func insertedAndUndecodedRows() async throws {
        try await Self.with { database, client async throws in
            try await client.followsLog()
            let inserted = try await Self.run(
                "INSERT INTO notes VALUES (9, 1, 'new', NULL);", until: ["people/1", "notes/9"], database, client)
            let number = try #require(inserted.first { Self.name($0) == "notes/9" }?["number"]?.int)
            #expect(try await client.post("/v1/journal/\(number)/undo", "{}").status == 200)
            #expect(try await database.run("SELECT COUNT(*) FROM notes WHERE id = 9;") == "0\n")
            let signed = try await Self.run(
                "UPDATE people SET sign = 'y', name = 'Anna' WHERE id = 1;", until: ["people/1"], database, client)
            let entry = try #require(signed.last)
            let unlogged = entry["outcomes"]?.array.map { $0["unlogged"]?.array.map { $0.text ?? "" } ?? [] }
            #expect(unlogged == [[], ["sign"]], "\(entry)")
            let path = "/v1/journal/\(try #require(entry["number"]?.int))/undo"
            let whole = try await client.post(path, "{}")
            #expect(whole.status != 200 && whole.text.contains("sign"), "\(whole.text)")
            #expect(try await client.post(path, #"{"groups":["person.name"]}"#).status == 200)
            #expect(try await database.run("SELECT name, sign FROM people WHERE id = 1;") == "Ann\ty\n")
            let minimal = try await Self.run(
                "SET SESSION binlog_row_image = 'MINIMAL'; UPDATE people SET name = 'Ann B' WHERE id = 1;",
                until: ["people/1"], database, client)
            #expect(minimal.last?["outcomes"]?[0]?["unlogged"]?[0]?.text == "name", "\(minimal)")
        }
    }

    @Test("Each change has one entry, also of compressed events and XA transactions", .tags(.mariadb), .needsMariaDB)
    func otherForms() async throws {
        let server = try await PrivateMariaDB(options: PrivateMariaDB.logOptions + ["--log-bin-compress=1"])
        try await Self.with(server: server) { database, client async throws in
            try await client.followsLog()
            let long = try await Self.run(
                "UPDATE people SET name = REPEAT('n', 20), card = REPEAT('c', 20);", until: ["people/1", "people/2"],
                database, client)
            #expect(long.map(Self.name).sorted() == ["people/1", "people/2"])
            let prepared = try await Self.run(
                """
                XA START 'a'; UPDATE notes SET txt = 'xa' WHERE id = 1; XA END 'a'; XA PREPARE 'a'; XA COMMIT 'a';
                BEGIN; UPDATE notes SET txt = 'no' WHERE id = 2; ROLLBACK;
                """, until: ["people/1", "notes/1"], database, client)
            #expect(prepared.map(Self.name).sorted() == ["notes/1", "people/1"])
            #expect(try await client.found().scanned == 0)
        }
    }

    @Test("A server without full images is refused, with the setting", .tags(.mariadb), .needsMariaDB)
    func minimalImages() async throws {
        let server = try await PrivateMariaDB(options: PrivateMariaDB.logOptions + ["--binlog-row-image=MINIMAL"])
        try await Self.with(server: server) { _, client async throws in
            try await client.hasScanned()
            let ready = try await client.get("/readyz").json()
            #expect(ready["feed"]?["source"]?.text == "scan")
            #expect(ready["feed"]?["binlogFault"]?.text?.contains("binlog_row_image") == true, "\(ready)")
            #expect(ready["problems"]?.array.isEmpty == false)
        }
    }
}
