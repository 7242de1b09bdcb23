import Synchronization
import Testing
import TestSupport

/// A column is altered while clients read, page and push.
///
/// They get its old value, its new value or an error, and no other value is stored.
@Suite(.timeLimit(.minutes(10))) struct AlteredColumnTests {
    /// A MODIFY that the server allows, and how the value is written, stored and sent before and after it.
    struct Alteration: Sendable, CustomTestStringConvertible {
        let before: String
        let after: String
        let literal: String
        let sentBefore: String
        let sentAfter: String

        init(_ before: String, to after: String, _ literal: String, sent: (String, String)) {
            (self.before, self.after, self.literal) = (before, after, literal)
            (sentBefore, sentAfter) = sent
        }

        var testDescription: String { "\(before) to \(after)" }
    }

    static let alterations = [
        Alteration("DECIMAL(10,0)", to: "INT", "61", sent: (#""61""#, "61")),
        Alteration("DECIMAL(10,0)", to: "BIGINT", "61", sent: (#""61""#, "61")),
        Alteration("DECIMAL(10,0)", to: "FLOAT", "61", sent: (#""61""#, "61")),
        Alteration("DECIMAL(10,0)", to: "DOUBLE", "61", sent: (#""61""#, "61")),
        Alteration("DECIMAL(10,0)", to: "DECIMAL(12,2)", "61", sent: (#""61""#, #""61.00""#)),
        Alteration("DECIMAL(12,2)", to: "DECIMAL(12,1)", "61.5", sent: (#""61.50""#, #""61.5""#)),
        Alteration("DECIMAL(10,2)", to: "VARCHAR(20)", "61.5", sent: (#""61.50""#, #""61.50""#)),
        Alteration("VARCHAR(20)", to: "INT", "'61'", sent: (#""61""#, "61")),
        Alteration("VARCHAR(20)", to: "CHAR(20)", "'ab'", sent: (#""ab""#, #""ab""#)),
        Alteration("VARCHAR(20)", to: "TEXT", "'ab'", sent: (#""ab""#, #""ab""#)),
        Alteration("VARCHAR(20)", to: "VARBINARY(20)", "'abc'", sent: (#""abc""#, #""YWJj""#)),
        Alteration("VARCHAR(20)", to: "DECIMAL(6,2)", "'6.5'", sent: (#""6.5""#, #""6.50""#)),
        Alteration("VARCHAR(20)", to: "DATE", "'2026-11-20'", sent: (#""2026-11-20""#, #""2026-11-20""#)),
        Alteration("VARCHAR(20)", to: "ENUM('ab','cd')", "'ab'", sent: (#""ab""#, #""ab""#)),
        Alteration("VARCHAR(20)", to: "VARCHAR(30)", "'ab'", sent: (#""ab""#, #""ab""#)),
        Alteration("CHAR(4)", to: "TINYINT", "'7'", sent: (#""7""#, "7")),
        Alteration("CHAR(4)", to: "BINARY(4)", "'7'", sent: (#""7""#, #""NwAAAA==""#)),
        Alteration("INT", to: "DOUBLE", "61", sent: ("61", "61")),
        Alteration("INT", to: "VARCHAR(20)", "61", sent: ("61", #""61""#)),
        Alteration("INT", to: "BIGINT", "61", sent: ("61", "61")),
        Alteration("INT", to: "INT UNSIGNED", "61", sent: ("61", "61")),
        Alteration("INT", to: "DECIMAL(12,2)", "61", sent: ("61", #""61.00""#)),
        Alteration("INT", to: "BIT(16)", "61", sent: ("61", "61")),
        Alteration("BIT(16)", to: "INT", "61", sent: ("61", "61")),
        Alteration("BIGINT UNSIGNED", to: "DECIMAL(20,0)", "61", sent: ("61", #""61""#)),
        Alteration("FLOAT", to: "DOUBLE", "1.5", sent: ("1.5", "1.5")),
        Alteration("DOUBLE", to: "FLOAT", "1.5", sent: ("1.5", "1.5")),
        Alteration("DOUBLE", to: "DECIMAL(8,3)", "1.5", sent: ("1.5", #""1.500""#)),
        Alteration("YEAR", to: "INT", "2026", sent: ("2026", "2026")),
        Alteration("DATE", to: "DATETIME", "'2026-11-20'", sent: (#""2026-11-20""#, #""2026-11-20T00:00:00""#)),
        Alteration("DATETIME", to: "DATE", "'2026-11-20'", sent: (#""2026-11-20T00:00:00""#, #""2026-11-20""#)),
        Alteration(
            "DATETIME", to: "DATETIME(3)", "'2026-11-20 10:00:00'",
            sent: (#""2026-11-20T10:00:00""#, #""2026-11-20T10:00:00.000""#)),
        Alteration(
            "DATETIME", to: "TIMESTAMP", "'2026-11-20 10:00:00'",
            sent: (#""2026-11-20T10:00:00""#, #""2026-11-20T10:00:00Z""#)),
        Alteration(
            "TIMESTAMP NULL", to: "TIMESTAMP(6) NULL", "'2026-11-20 10:00:00'",
            sent: (#""2026-11-20T10:00:00Z""#, #""2026-11-20T10:00:00.000000Z""#)),
        Alteration("TIME", to: "TIME(2)", "'10:00:00'", sent: (#""10:00:00""#, #""10:00:00.00""#)),
        Alteration(
            "DATETIME", to: "VARCHAR(40)", "'2026-11-20 10:00:00'",
            sent: (#""2026-11-20T10:00:00""#, #""2026-11-20 10:00:00""#)),
        Alteration("ENUM('ab','cd')", to: "VARCHAR(20)", "'ab'", sent: (#""ab""#, #""ab""#)),
        Alteration("SET('ab','cd')", to: "VARCHAR(20)", "'ab,cd'", sent: (#"["ab","cd"]"#, #""ab,cd""#)),
        Alteration("BINARY(4)", to: "BINARY(6)", "'abc'", sent: (#""YWJjAA==""#, #""YWJjAAAA""#)),
        Alteration("VARBINARY(20)", to: "VARCHAR(20)", "'abc'", sent: (#""YWJj""#, #""abc""#)),
        Alteration("BLOB", to: "TEXT", "'abc'", sent: (#""YWJj""#, #""abc""#)),
        Alteration("INET6", to: "VARCHAR(45)", "'::1'", sent: (#""::1""#, #""::1""#)),
        Alteration(
            "UUID", to: "CHAR(36)", "'123e4567-e89b-12d3-a456-426655440000'",
            sent: (
                #""123e4567-e89b-12d3-a456-426655440000""#, #""123e4567-e89b-12d3-a456-426655440000""#
            )),
    ]

    /// Each push sends the whole group back, so a wrongly read value would be written.
    private static let rules = [
        "items.yaml": """
        resource: items
        sections:
          item: {table: items, groups: {both: {fields: {value: v, note: note}}}}
        """
    ]

    private static let ids = 1...3

    /// Checks the values that clients have read since the start.
    private final class Watch: Sendable {
        private let allowed: [JSON]
        private let state = Mutex((isAltered: false, faults: [String](), reads: 0, readsAfter: 0))
        /// Ends once enough was read before the change.
        let beginning: AsyncStream<Void>
        private let begun: AsyncStream<Void>.Continuation

        init(_ alteration: Alteration) throws {
            (beginning, begun) = AsyncStream.makeStream()
            allowed = [try JSON(alteration.sentBefore), try JSON(alteration.sentAfter)]
        }

        /// True after enough reads that followed the change.
        var isOver: Bool { state.withLock { $0.readsAfter >= 30 || !$0.faults.isEmpty } }
        private var hasBegun: Bool { state.withLock { $0.reads >= 6 } }
        var faults: [String] { state.withLock { $0.faults } }

        func isAltered() { state.withLock { $0.isAltered = true } }

        func saw(_ value: JSON?, in answer: HTTPClient.Answer) {
            state.withLock { state in
                state.reads += 1
                if state.isAltered { state.readsAfter += 1 }
                if let value, allowed.contains(value) { return }
                state.faults.append(answer.text)
            }
            if hasBegun || isOver { begun.finish() }
        }

        func failed(_ answer: HTTPClient.Answer) {
            let code = try? answer.json()["code"]?.text
            state.withLock { state in
                if state.isAltered { state.readsAfter += 1 }
                if answer.status == 503, ["resource-unavailable", "busy"].contains(code) { return }
                // A base in the old type is not a value of the new type.
                if answer.status == 400, code == "invalid-value" { return }
                if answer.status == 409, code == "rules-changed" { return }
                state.faults.append("\(answer.status) \(answer.text)")
            }
            if isOver { begun.finish() }
        }
    }

    private static func read(_ client: HTTPClient.Session, _ watch: Watch) async throws {
        while !watch.isOver {
            for id in ids {
                let answer = try await client.get("/v1/records/items/\(id)")
                if answer.status == 200 {
                    watch.saw(try answer.json()["item"]?["value"], in: answer)
                } else {
                    watch.failed(answer)
                }
            }
            let page = try await client.get("/v1/records/items")
            guard page.status == 200 else {
                watch.failed(page)
                continue
            }
            for record in try page.json()["records"]?.array ?? [] { watch.saw(record["item"]?["value"], in: page) }
        }
    }

    private static func push(_ client: HTTPClient.Session, _ watch: Watch) async throws {
        var number = 0
        while !watch.isOver {
            let id = number % 3 + 1
            number += 1
            // A text can be a value of the old and of the new type. So the push names the rules that its base belongs to.
            let version = try await client.get("/v1/rules").json()["version"]?.text ?? ""
            let read = try await client.get("/v1/records/items/\(id)")
            guard read.status == 200, let item = try read.json()["item"], let value = item["value"],
                let note = item["note"]
            else {
                watch.failed(read)
                continue
            }
            watch.saw(value, in: read)
            let answer = try await client.post(
                "/v1/push",
                """
                {"rules":"\(version)","edits":[{"resource":"items","id":\(id),"changeset":{"item":{"both":\
                {"old":{"value":\(value),"note":\(note)},"new":{"value":\(value),"note":\(number)}}}}}]}
                """)
            if answer.status == 200 {
                watch.saw(try answer.json()["results"]?[0]?["record"]?["item"]?["value"], in: answer)
            } else {
                watch.failed(answer)
            }
        }
    }

    @Test(
        "An altered column is never read or written as another type", .tags(.mariadb), .needsMariaDB,
        arguments: alterations)
    func alteredColumns(_ alteration: Alteration) async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: """
                CREATE TABLE items (id INT PRIMARY KEY, v \(alteration.before), note INT NOT NULL) ENGINE=InnoDB;
                INSERT INTO items VALUES (1, \(alteration.literal), 0), (2, \(alteration.literal), 0),
                  (3, \(alteration.literal), 0);
                """, sqlite: "")
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            let watch = try Watch(alteration)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await gateway.client { try await Self.read($0, watch) } }
                group.addTask { try await gateway.client { try await Self.push($0, watch) } }
                group.addTask {
                    for await _ in watch.beginning {}
                    try await database.run("ALTER TABLE items MODIFY v \(alteration.after);")
                    watch.isAltered()
                }
                try await group.waitForAll()
            }
            #expect(watch.faults.isEmpty, "\(watch.faults.prefix(3))")
            try await gateway.client { client async throws in
                let snapshot = try await client.get("/v1/snapshot")
                let records = try snapshot.text.split(separator: "\n").map { try JSON(String($0)) }
                    .compactMap { $0["record"] }
                #expect(records.count == 3, "\(snapshot.text)")
                for record in records {
                    #expect(record["item"]?["value"] == (try JSON(alteration.sentAfter)), "\(record)")
                }
            }
            // The conversion of the server, without other writers.
            let stored = try await database.run(
                """
                CREATE TEMPORARY TABLE fresh (v \(alteration.before)); INSERT INTO fresh VALUES (\(alteration.literal));
                ALTER TABLE fresh MODIFY v \(alteration.after);
                SELECT COUNT(*) FROM items, fresh WHERE HEX(items.v) = HEX(fresh.v);
                """)
            #expect(stored == "3\n")
        }
    }

    @Test("A fraction that is added to a column is in the next answer", .tags(.mariadb), .needsMariaDB)
    func addedFraction() async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: """
                CREATE TABLE visits (id INT PRIMARY KEY, at DATETIME, seen TIMESTAMP NULL, took TIME, note INT) ENGINE=InnoDB;
                INSERT INTO visits VALUES (1, '2026-11-20 10:00:00', '2026-11-20 10:00:00', '00:10:00', 0);
                """, sqlite: "")
        let rules = [
            "visits.yaml": """
            resource: visits
            sections:
              visit: {table: visits, groups: {times: {fields: {at: at, seen: seen, took: took, note: note}}}}
            """
        ]
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/records/visits/1").status == 200)
                try await database.run(
                    """
                    ALTER TABLE visits MODIFY at DATETIME(3), MODIFY seen TIMESTAMP(3) NULL, MODIFY took TIME(3);
                    UPDATE visits SET at = '2026-11-20 10:00:00.250', seen = '2026-11-20 10:00:00.125',
                      took = '00:10:00.500';
                    """)
                let visit = try await client.get("/v1/records/visits/1").json()["visit"]
                #expect(visit?["at"]?.text == "2026-11-20T10:00:00.250")
                #expect(visit?["seen"]?.text == "2026-11-20T10:00:00.125Z")
                #expect(visit?["took"]?.text == "00:10:00.500")
            }
        }
    }

    /// SQLite has no MODIFY: a program creates the table again.
    @Test("A SQLite table that was created again has its new types")
    func recreatedTable() async throws {
        let table = """
            CREATE TABLE items (id INTEGER PRIMARY KEY, v INTEGER, note INTEGER NOT NULL);
            INSERT INTO items VALUES (1, 61, 0);
            """
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: table)
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/records/items/1").json()["item"]?["value"]?.int == 61)
                try await database.run(
                    """
                    BEGIN; CREATE TABLE fresh (id INTEGER PRIMARY KEY, v TEXT, note INTEGER NOT NULL);
                    INSERT INTO fresh SELECT * FROM items; DROP TABLE items; ALTER TABLE fresh RENAME TO items; COMMIT;
                    """)
                let pushed = try await client.post(
                    "/v1/merge/items",
                    #"{"id":1,"changeset":{"item":{"both":{"old":{"value":"61","note":0},"new":{"value":"62","note":1}}}}}"#
                )
                #expect(try pushed.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(pushed.text)")
                #expect(try await database.run("SELECT typeof(v), v, note FROM items;") == "text\t62\t1\n")
                #expect(try await client.get("/v1/records/items/1").json()["item"]?["value"]?.text == "62")
            }
        }
    }
}
