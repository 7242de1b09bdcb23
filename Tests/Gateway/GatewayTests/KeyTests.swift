import Gateway
import MergeWire
import Testing
import TestSupport

/// Keys and tables as old databases have them.
@Suite struct KeyTests {
    private static let schema = """
        CREATE TABLE texts (code VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, n INT) ENGINE=InnoDB;
        INSERT INTO texts VALUES ('Straße, 1/2', 1), ('b', 2), ('ä %', 3);
        CREATE TABLE bytes (id BINARY(4) PRIMARY KEY, n INT) ENGINE=InnoDB;
        INSERT INTO bytes VALUES (x'FBFF0001', 1), (x'00000000', 2);
        CREATE TABLE uuids (id UUID PRIMARY KEY, n INT) ENGINE=InnoDB;
        INSERT INTO uuids VALUES ('123e4567-e89b-12d3-a456-426655440000', 1);
        CREATE TABLE big (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, n INT) ENGINE=InnoDB;
        INSERT INTO big VALUES (9223372036854775900, 1), (5, 2);
        CREATE TABLE pairs (a INT NOT NULL, b INT NOT NULL AUTO_INCREMENT, n INT, PRIMARY KEY (a, b), KEY (b)) ENGINE=InnoDB;
        INSERT INTO pairs VALUES (1, 1, 10), (1, 2, 20), (2, 3, 30);
        CREATE TABLE named (x INT, u VARCHAR(9) NOT NULL, n INT, UNIQUE KEY by_u (u)) ENGINE=InnoDB;
        INSERT INTO named VALUES (1, 'k', 1);
        CREATE TABLE dates (d DATE NOT NULL, t DECIMAL(6,2) NOT NULL, n INT, PRIMARY KEY (d, t)) ENGINE=InnoDB;
        INSERT INTO dates VALUES ('2026-11-20', 1.5, 1);
        CREATE TABLE parted (id INT NOT NULL, n INT, PRIMARY KEY (id)) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 4;
        INSERT INTO parted VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
        CREATE VIEW seen AS SELECT id, n AS number FROM parted WHERE id < 4;
        CREATE TABLE logs (parted INT, line VARCHAR(20)) ENGINE=InnoDB;
        INSERT INTO logs VALUES (1, 'one'), (1, 'two');
        """
    private static let rules = [
        "texts.yaml": "resource: texts\nsections:\n  t: {table: texts, groups: {n: n}}\n",
        "bytes.yaml": "resource: bytes\nsections:\n  t: {table: bytes, groups: {n: n}}\n",
        "uuids.yaml": "resource: uuids\nsections:\n  t: {table: uuids, groups: {n: n}}\n",
        "big.yaml": "resource: big\nsections:\n  t: {table: big, groups: {n: n}}\n",
        "pairs.yaml": "resource: pairs\nsections:\n  t: {table: pairs, groups: {n: n}}\n",
        "named.yaml": "resource: named\nsections:\n  t: {table: named, key: u, groups: {x: x, n: n}}\n",
        "dates.yaml": "resource: dates\nsections:\n  t: {table: dates, groups: {n: n}}\n",
        "seen.yaml": "resource: seen\nsections:\n  t: {table: seen, key: id, groups: {number: number}}\n",
        "logs.yaml": "resource: logs\nsections:\n  line: {table: logs, read-only: {parted: parted, line: line}}\n",
        "parted.yaml": """
        resource: parted
        sections:
          t: {table: parted, groups: {n: n}}
          logs: {list: true, table: logs, parent: {parted: id}, order: [line], read-only: {line: line}}
        """,
    ]

    private static func with(
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(.mariadb, mariadb: schema, sqlite: "")
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) == 21)
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func edit(_ id: String, _ old: Int, field: String = "n") -> String {
        #"{"id":\#(id),"changeset":{"t":{"\#(field)":{"old":\#(old),"new":99}}}}"#
    }

    @Test("A key of each type finds its row", .tags(.mariadb), .needsMariaDB)
    func keys() async throws {
        try await Self.with { client, database in
            let cases = [
                ("texts", "Stra%C3%9Fe%2C%201%2F2", #""Straße, 1/2""#, 1), ("texts", "%C3%A4%20%25", #""ä %""#, 3),
                ("bytes", "%2B%2F8AAQ%3D%3D", #""+/8AAQ==""#, 1),
                ("uuids", "123e4567-e89b-12d3-a456-426655440000", #""123e4567-e89b-12d3-a456-426655440000""#, 1),
                ("big", "9223372036854775900", #""9223372036854775900""#, 1), ("pairs", "1,2", "[1,2]", 20),
                ("named", "k", #""k""#, 1), ("dates", "2026-11-20,1.50", #"["2026-11-20","1.50"]"#, 1),
                ("parted", "5", "5", 5),
            ]
            for (resource, url, id, value) in cases {
                let read = try await client.get("/v1/records/\(resource)/\(url)")
                #expect(read.status == 200, "\(resource)/\(url): \(read.text)")
                #expect(try read.json()["id"] == (try JSON(id)), "\(read.text)")
                #expect(try read.json()["t"]?["n"]?.int == value)
                let merged = try await client.post("/v1/merge/\(resource)", Self.edit(id, value))
                #expect(try merged.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(resource): \(merged.text)")
            }
            #expect(try await database.run("SELECT COUNT(*) FROM texts WHERE n = 99") == "2\n")
        }
    }

    @Test("Another spelling is another key", .tags(.mariadb), .needsMariaDB)
    func spellings() async throws {
        try await Self.with { client, database in
            #expect(try await client.get("/v1/records/texts/B").status == 404)
            let missing = try await client.post("/v1/merge/texts", Self.edit(#""B""#, 2))
            #expect(try missing.json()["outcomes"]?[0]?["outcome"]?.text == "missing", "\(missing.text)")
            // To create a key that the collation equates is to create the row that exists.
            let created = try await client.post(
                "/v1/merge/texts", #"{"id":"B","changeset":{"t":{"old":null,"new":{"n":7}}}}"#)
            #expect(try created.json()["id"]?.text == "b", "\(created.text)")
            #expect(try created.json()["outcomes"]?[0]?["outcome"]?.text == "client-won")
            #expect(try await database.run("SELECT code, n FROM texts WHERE code = 'b'") == "b\t7\n")
        }
    }

    @Test("The numbered column can be anywhere in the key", .tags(.mariadb), .needsMariaDB)
    func numberedKeys() async throws {
        try await Self.with { client, _ in
            let pair = try await client.post(
                "/v1/merge/pairs", #"{"id":[5,"tmp:p"],"changeset":{"t":{"old":null,"new":{"n":1}}}}"#)
            #expect(try pair.json()["ids"]?["tmp:p"] == (try JSON("[5,4]")), "\(pair.text)")
            let big = try await client.post(
                "/v1/merge/big", #"{"id":-1,"changeset":{"t":{"old":null,"new":{"n":1}}}}"#)
            #expect(try big.json()["ids"]?["-1"]?.text == "9223372036854775901", "\(big.text)")
        }
    }

    @Test("Views can be written, and rows without keys can be read", .tags(.mariadb), .needsMariaDB)
    func views() async throws {
        try await Self.with { client, database in
            #expect(try await client.get("/v1/records/seen/5").status == 404)
            let view = try await client.post("/v1/merge/seen", Self.edit("2", 2, field: "number"))
            #expect(try view.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(view.text)")
            #expect(try await database.run("SELECT n FROM parted WHERE id = 2") == "99\n")
            let record = try await client.get("/v1/records/parted/1").json()
            #expect(record["logs"] == (try JSON(#"[{"line":"one"},{"line":"two"}]"#)))
            let page = try await client.get("/v1/records/logs?limit=1").json()
            #expect(page == (try JSON(#"{"records":[{"line":{"parted":1,"line":"one"}}],"next":"1"}"#)))
            let rest = try await client.get("/v1/records/logs?limit=1&after=1").json()
            #expect(rest == (try JSON(#"{"records":[{"line":{"parted":1,"line":"two"}}],"next":null}"#)))
            #expect(try await client.get("/v1/records/logs/1").status == 404)
            #expect(try await client.post("/v1/merge/logs", #"{"changeset":{}}"#).status == 400)
            let refused = try await client.post(
                "/v1/merge/parted", #"{"id":1,"changeset":{"logs":[{"old":null,"new":{}}]}}"#)
            #expect(refused.status == 400)
        }
    }

    @Test("A table of another schema is served", .tags(.mariadb), .needsMariaDB)
    func otherSchema() async throws {
        let other = try await TestDatabase(
            .mariadb, mariadb: "CREATE TABLE far (id INT PRIMARY KEY, n INT); INSERT INTO far VALUES (1, 1);",
            sqlite: "")
        let database = try await TestDatabase(.mariadb, mariadb: "CREATE TABLE near (id INT PRIMARY KEY);", sqlite: "")
        try await other.grantTables(to: database.account)
        let rules = ["far.yaml": "resource: far\nsections:\n  t: {schema: \(other.name), table: far, groups: {n: n}}\n"]
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                let merged = try await client.post("/v1/merge/far", Self.edit("1", 1))
                #expect(try merged.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(merged.text)")
            }
        }
        #expect(try await other.run("SELECT n FROM far") == "99\n")
    }

    /// 16 MiB through HTTP, SQL and back.
    @Test("Very long values are read and written", .tags(.mariadb), .needsMariaDB)
    func longValues() async throws {
        let server = try await PrivateMariaDB(options: ["--max-allowed-packet=64M"])
        let database = try await TestDatabase(
            .mariadb,
            mariadb:
                "CREATE TABLE long_texts (id INT PRIMARY KEY, t LONGTEXT); INSERT INTO long_texts VALUES (1, 'x');",
            sqlite: "", server: server)
        let rules = ["l.yaml": "resource: l\nsections:\n  t: {table: long_texts, groups: {t: t}}\n"]
        let text = String(repeating: "0123456789abcdef", count: 1 << 20)
        try await RunningGateway.with(database, rules: rules, configure: { $0.wire.bodyBytes = 32 << 20 }) {
            gateway async throws in
            try await gateway.client { client async throws in
                let merged = try await client.post(
                    "/v1/merge/l", #"{"id":1,"changeset":{"t":{"t":{"old":"x","new":"\#(text)"}}}}"#)
                #expect(merged.status == 200)
                #expect(try merged.json()["record"]?["t"]?["t"]?.text == text)
            }
        }
        #expect(
            try await database.run(
                "SELECT LENGTH(t), MD5(t) = MD5(REPEAT('0123456789abcdef', 1048576)) FROM long_texts")
                == "16777216\t1\n")
        server.kill()
    }

    @Test("A new key has at most the decimals of its column", arguments: TestEngine.allCases)
    func decimalsOfANewKey(_ kind: TestEngine) async throws {
        let schema = """
            CREATE TABLE dates (d DATE NOT NULL, t DECIMAL(6,2) NOT NULL, n INT, PRIMARY KEY (d, t));
            CREATE TABLE notes (d DATE NOT NULL, t DECIMAL(6,2) NOT NULL, no INT NOT NULL, n INT, PRIMARY KEY (d, t, no));
            \(kind == .sqlite ? "INSERT INTO dates VALUES ('2026-01-01', 1.505, 1);" : "")
            """
        let rules = [
            "dates.yaml": """
            resource: dates
            sections:
              t: {table: dates, groups: {n: n}}
              notes: {list: true, table: notes, parent: {d: d, t: t}, groups: {n: n}}
            """
        ]
        let database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                let creation = #""changeset":{"t":{"old":null,"new":{"n":1}}}}"#
                let refused = try await client.post(
                    "/v1/merge/dates", #"{"id":["2026-01-02","1.505"],"# + creation)
                #expect(refused.status == 400, "\(refused.text)")
                #expect(try refused.json()["path"]?.text == "id[1]", "\(refused.text)")
                let created = try await client.post("/v1/merge/dates", #"{"id":["2026-01-02","1.5"],"# + creation)
                #expect(created.status == 200, "\(created.text)")
                // An item of a record that another program made has the key of its record.
                guard kind == .sqlite else { return }
                let item = try await client.post(
                    "/v1/merge/dates",
                    #"{"id":["2026-01-01","1.505"],"changeset":{"notes":["#
                        + #"{"id":["2026-01-01","1.505",1],"old":null,"new":{"n":1}}]}}"#)
                #expect(item.status == 200, "\(item.text)")
            }
        }
    }
}
