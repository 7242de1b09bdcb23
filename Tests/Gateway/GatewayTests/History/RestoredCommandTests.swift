import Testing
import TestSupport

/// `fieldmerge journal restored` after data and journal went back to a backup.
@Suite(.timeLimit(.minutes(5))) struct RestoredCommandTests {
    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer: {table: customers, groups: {name: name, points: {column: points, merge: add}}}
          orders:
            list: true
            table: orders
            parent: {customer_id: id}
            where: gone = 0
            delete: {set: {gone: 1}}
            groups: {item: item}
        """
    ]
    private static let mariadb = """
        CREATE TABLE customers (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, points INT NOT NULL);
        CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, customer_id INT NOT NULL, item VARCHAR(40) NOT NULL,
          gone INT NOT NULL DEFAULT 0);
        INSERT INTO customers VALUES (1, 'Joe', 5), (2, 'Ann', 7);
        INSERT INTO orders VALUES (1, 1, 'tea', 0), (2, 2, 'rice', 0);
        """
    private static let sqlite = mariadb.replacing(
        "INT AUTO_INCREMENT PRIMARY KEY", with: "INTEGER PRIMARY KEY AUTOINCREMENT")
    private static let journal = ["entries", "meta", "feed", "pending", "changes", "departures", "gateways"]

    private static func edit(_ key: String, _ changeset: String, id: String = "1") -> String {
        #"{"key":"\#(key)","edits":[{"resource":"customers","id":\#(id),"changeset":\#(changeset)}]}"#
    }

    /// The pushes after the backup.
    private static let pushes = [
        edit("a", #"{"customer":{"name":{"old":"Joe","new":"Bob"}}}"#),
        edit("b", #"{"customer":{"points":{"old":5,"new":8}}}"#),
        edit("c", #"{"customer":{"points":{"old":8,"new":9}}}"#),
        edit("d", #"{"orders":[{"id":-1,"old":null,"new":{"item":"corn"}},{"id":1,"old":{"item":"tea"},"new":null}]}"#),
        edit("e", #"{"customer":{"old":null,"new":{"name":"Eve","points":1}}}"#, id: "-5"),
        edit("f", #"{"orders":[{"id":-7,"old":null,"new":{"item":"salt"}}]}"#),
        edit("g", #"{"orders":[{"id":4,"old":{"item":"salt"},"new":null}]}"#),
    ]

    private static func run(
        _ database: TestDatabase, _ arguments: [String], rules: [String: String] = rules
    ) async throws -> (Int32, String, String) {
        let folder = try TemporaryFolder(files: rules)
        return try await Shell.capture(
            [
                GatewayProcess.program, "journal", "restored", "--database", database.url, "--journal",
                database.journalURL, "--rules", folder.path,
            ] + arguments)
    }

    private static func rows(
        _ database: TestDatabase, _ tables: [String] = ["customers", "orders"]
    ) async throws -> String {
        try await database.run(tables.map { "SELECT * FROM \($0) ORDER BY 1;" }.joined())
    }

    /// Merges pushes after a backup, restores data and journal, and keeps the newer journal as a copy.
    ///
    /// - Returns: the rows before the restore, and the place of the newer journal.
    private static func restore(
        _ database: TestDatabase, tables: [String] = ["customers", "orders"], rules: [String: String] = rules,
        pushes: [String] = pushes
    ) async throws -> (rows: String, newer: String) {
        try await database.run(tables.map { "CREATE TABLE b_\($0) AS SELECT * FROM \($0);" }.joined())
        for table in journal {
            try await database.runOnJournal("CREATE TABLE b_\(table) AS SELECT * FROM \(table);")
        }
        let gateway = try await GatewayProcess(database, rules: rules)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            for push in pushes {
                let answer = try await client.post("/v1/push", push)
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        #expect(await gateway.stop() == 0)
        let newest = try await rows(database, tables)
        let newer: String
        switch database.kind {
        case .mariadb:
            let schema = database.journalName + "_newer"
            try await database.runAsOperator("CREATE DATABASE \(schema);")
            for table in journal {
                try await database.runAsOperator(
                    "CREATE TABLE \(schema).\(table) LIKE \(database.journalName).\(table);"
                        + "INSERT INTO \(schema).\(table) SELECT * FROM \(database.journalName).\(table);")
            }
            try await database.runAsOperator("GRANT SELECT ON \(schema).* TO \(database.accountSQL);")
            newer = "same-server:" + schema
        case .sqlite:
            newer = "sqlite:" + database.journalName + "-newer"
            try await database.runOnJournal("VACUUM INTO '\(database.journalName)-newer';")
        }
        try await database.run(
            tables.reversed().map { "DELETE FROM \($0);" }.joined()
                + tables.map { "INSERT INTO \($0) SELECT * FROM b_\($0);" }.joined())
        for table in journal {
            try await database.runOnJournal("DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM b_\(table);")
        }
        return (newest, newer)
    }

    @Test(
        "Rolling forward merges the missing pushes, and their keys have answers again", arguments: TestEngine.allCases)
    func rollForward(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
        try await database.beginJournal()
        let (newest, newer) = try await Self.restore(database)
        let old = try await Self.rows(database)
        #expect(old != newest)
        let (_, preview, errors) = try await Self.run(database, ["--newer", newer, "--preview"])
        #expect(preview.contains("nothing was written") && preview.contains("customers/1"), "\(preview)\(errors)")
        #expect(try await Self.rows(database) == old)
        // A first run without rolling forward copies the journal and loses nothing for the second.
        let (_, listed, _) = try await Self.run(database, ["--newer", newer])
        #expect(listed.contains("customers/1") && listed.contains("Copied from the newer journal: 7"), "\(listed)")
        let (status, report, faults) = try await Self.run(database, ["--newer", newer, "--roll-forward"])
        #expect(status == 0, "\(report)\(faults)")
        #expect(report.contains("Merged again: 7"), "\(report)")
        #expect(report.contains(kind == .mariadb ? "AUTO_INCREMENT = 5;" : "MAX(seq, 4)"), "\(report)")
        #expect(try await Self.rows(database) == newest)
        let gateway = try await GatewayProcess(database, rules: Self.rules)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            for push in Self.pushes {
                let again = try await client.post("/v1/push", push)
                #expect(again.headers["idempotent-replayed"] == "true", "\(again.text)")
            }
        }
        #expect(await gateway.stop() == 0)
        #expect(try await Self.rows(database) == newest)
        let (_, second, _) = try await Self.run(database, ["--newer", newer, "--roll-forward"])
        #expect(second.contains("The data lack no merged push."), "\(second)")
    }

    private static let referring = [
        "owners.yaml": """
        resource: owners
        sections:
          owner: {table: owners, on-missing: restore, client-keys: allow, groups: {a: a, b: b}}
          items: {list: true, table: items, key: id, parent: owner_id, groups: {x: x}}
        """,
        "marks.yaml": """
        resource: marks
        sections:
          mark: {table: marks, groups: {owner: {column: owner, references: owners}}}
        """,
        "cars.yaml": """
        resource: cars
        sections:
          car: {table: cars, groups: {owner: {column: owner, references: owners}, v: v}}
        """,
    ]
    private static let referringTables = """
        CREATE TABLE owners (id INTEGER PRIMARY KEY, a VARCHAR(9), b VARCHAR(9));
        CREATE TABLE items (id VARCHAR(9) PRIMARY KEY, owner_id INTEGER NOT NULL, x VARCHAR(9),
          FOREIGN KEY (owner_id) REFERENCES owners(id) ON DELETE CASCADE);
        CREATE TABLE marks (id VARCHAR(9) PRIMARY KEY, owner INTEGER,
          FOREIGN KEY (owner) REFERENCES owners(id) ON DELETE SET NULL);
        CREATE TABLE cars (id VARCHAR(9) PRIMARY KEY, owner INTEGER, v VARCHAR(9),
          FOREIGN KEY (owner) REFERENCES owners(id) ON DELETE CASCADE);
        INSERT INTO owners VALUES (1, 'a', 'b'); INSERT INTO items VALUES ('i', 1, 'x');
        INSERT INTO marks VALUES ('m', 1); INSERT INTO cars VALUES ('c', 1, 'v');
        """
    private static let deletion = #"owners","id":1,"changeset":{"owner":{"old":{},"new":null}}"#
    private static let creation = #"owners","id":1,"changeset":{"owner":{"old":null,"new":{"a":"q","b":"b"}}}"#
    private static let creationWithItem: String =
        String(creation.dropLast()) + #","items":[{"id":"i","old":null,"new":{"x":"x"}}]}"#
    private static let sameCreation = creation.replacing(#""q""#, with: #""a""#)
    private static let restoration = #"owners","id":1,"changeset":{"owner":{"a":{"old":"z","new":"n"}}}"#
    private static let item = #"owners","id":1,"changeset":{"items":[{"id":"i","old":null,"new":{"x":"x"}}]}"#
    private static let marking = #"marks","id":"m","changeset":{"mark":{"owner":{"old":null,"new":1}}}"#
    private static let unmarking = #"marks","id":"m","changeset":{"mark":{"owner":{"old":1,"new":null}}}"#
    private static let car = #"cars","id":"c","changeset":{"car":{"old":null,"new":{"owner":1,"v":"v"}}}"#

    private static func rolledForward(
        _ kind: TestEngine, _ edits: [String]
    ) async throws -> (status: Int32, report: String, rows: String, newest: String) {
        let database = try await TestDatabase(kind, mariadb: referringTables, sqlite: referringTables)
        try await database.beginJournal()
        let tables = ["owners", "items", "marks", "cars"]
        let pushes = edits.enumerated().map { #"{"key":"k\#($0)","edits":[{"resource":"\#($1)}]}"# }
        let (newest, newer) = try await restore(database, tables: tables, rules: referring, pushes: pushes)
        let (status, report, errors) = try await run(
            database, ["--newer", newer, "--roll-forward"], rules: referring)
        return (status, report + errors, try await rows(database, tables), newest)
    }

    @Test(
        "Rows that a deletion removes when it is merged again get their later values again",
        arguments: TestEngine.allCases,
        [
            [deletion, restoration, item], [deletion, creationWithItem],
            [deletion, creation, marking], [deletion, creation, car], [unmarking, deletion, creation, marking],
        ])
    func cascades(_ kind: TestEngine, edits: [String]) async throws {
        let (status, report, rows, newest) = try await Self.rolledForward(kind, edits)
        #expect(status == 0 && rows == newest, "\(report)")
    }

    @Test(
        "A deletion before an equal insertion is listed, because its other rows are left",
        arguments: TestEngine.allCases)
    func equalInsertion(_ kind: TestEngine) async throws {
        let (_, report, rows, newest) = try await Self.rolledForward(kind, [Self.deletion, Self.sameCreation])
        #expect(rows != newest && report.contains("by hand"), "\(report)")
    }

    @Test("Without the newer journal, keys since the backup are expired", arguments: TestEngine.allCases)
    func withoutNewer(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
        try await database.beginJournal()
        _ = try await Self.restore(database)
        let (status, report, errors) = try await Self.run(database, [])
        #expect(status == 0 && report.contains("key-expired"), "\(report)\(errors)")
        let gateway = try await GatewayProcess(database, rules: Self.rules)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            let push = Self.pushes[1].replacing(#""edits""#, with: #""sent":"2026-01-01T00:00:00Z","edits""#)
            let refused = try await client.post("/v1/push", push)
            #expect(refused.status == 409 && refused.text.contains("key-expired"), "\(refused.text)")
        }
        #expect(await gateway.stop() == 0)
    }

    @Test("A journal of another database is refused as the newer one")
    func otherJournal() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.sqlite)
        try await database.beginJournal()
        let other = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.sqlite)
        try await other.beginJournal()
        let (status, _, errors) = try await Self.run(database, ["--newer", other.journalURL])
        #expect(status != 0 && errors.contains("is not a copy"), "\(errors)")
    }
}
