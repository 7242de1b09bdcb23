import Testing
import TestSupport

/// Lookups of columns of all types.
@Suite(.timeLimit(.minutes(5))) struct LookupTypeTests {
    private struct Sample {
        let name: String
        let type: String
        let value: String
        var rule = ""
    }

    private static func samples(_ kind: TestEngine) -> [Sample] {
        let common = [
            Sample(name: "tiny", type: "TINYINT", value: "5"), Sample(name: "big", type: "BIGINT", value: "-7"),
            Sample(name: "flag", type: "TINYINT(1)", value: "1", rule: ", type: boolean"),
            Sample(name: "odd", type: "TINYINT(1)", value: "2", rule: ", type: boolean"),
            Sample(name: "weight", type: "DECIMAL(10,2)", value: "12.5"),
            Sample(name: "rate", type: "DOUBLE", value: "0.1"), Sample(name: "code", type: "CHAR(5)", value: "'ab'"),
            Sample(name: "day", type: "DATE", value: "'2026-11-01'"),
            Sample(name: "moment", type: "DATETIME(3)", value: "'2026-11-01 10:00:00.120'"),
            Sample(name: "hours", type: "TIME(2)", value: "'100:00:01.50'"),
            Sample(name: "raw", type: "VARBINARY(9)", value: "x'ff00'"),
            Sample(name: "tags", type: "VARCHAR(20)", value: "'p;q'", rule: ", type: set, separator: \";\""),
            Sample(name: "words", type: "VARCHAR(20)", value: "'p,q'", rule: ", type: set"),
            Sample(name: "doc", type: "TEXT", value: "'[1, 2]'", rule: ", type: json"),
            Sample(
                name: "paid", type: "CHAR(1)", value: "'J'",
                rule: ", type: boolean, values: {\"true\": \"J\", \"false\": \"N\"}"),
        ]
        if kind == .sqlite { return common }
        return common + [
            Sample(name: "one_bit", type: "BIT(1)", value: "1"), Sample(name: "bits", type: "BIT(8)", value: "200"),
            Sample(name: "all_bits", type: "BIT(64)", value: "0xFFFFFFFFFFFFFFFF"),
            Sample(
                name: "bit_flag", type: "BIT(3)", value: "5",
                rule: ", type: boolean, values: {\"true\": 5, \"false\": 1}"),
            Sample(name: "wide", type: "BIGINT UNSIGNED", value: "18446744073709551615"),
            Sample(name: "built", type: "YEAR", value: "1999"), Sample(name: "ratio", type: "FLOAT", value: "0.1"),
            Sample(name: "choice", type: "ENUM('a', 'b')", value: "'b'"),
            Sample(name: "choices", type: "SET('x', 'y')", value: "'y,x'"),
            Sample(name: "stamp", type: "TIMESTAMP NULL", value: "'2026-11-01 10:00:00'"),
            Sample(name: "padded", type: "BINARY(4)", value: "'ab'"),
            Sample(name: "tree", type: "JSON", value: "'{\"a\": 1.0}'"),
            Sample(name: "mark", type: "UUID", value: "'123e4567-e89b-12d3-a456-426614174000'"),
            Sample(name: "address", type: "INET6", value: "'::1'"),
            Sample(name: "latin", type: "VARCHAR(9) CHARACTER SET latin1", value: "'é'"),
        ]
    }

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, [String]) async throws -> Void
    ) async throws {
        let samples = samples(kind)
        func list(_ text: (Sample) -> String) -> String { samples.map(text).joined(separator: ", ") }
        let sql = """
            CREATE TABLE articles (id INTEGER PRIMARY KEY, \(list { "\($0.name) \($0.type)" }));
            CREATE TABLE orders (id INTEGER PRIMARY KEY, article INTEGER, FOREIGN KEY (article) REFERENCES articles (id));
            INSERT INTO articles VALUES (1, \(list(\.value))), (2, \(list { _ in "NULL" }));
            INSERT INTO orders VALUES (1, 1), (2, 2);
            """
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let rules = [
            "articles.yaml": """
            resource: articles
            sections:
              article: {table: articles, groups: {\(list { "\($0.name): {column: \($0.name)\($0.rule)}" })}}
            """,
            "orders.yaml": """
            resource: orders
            sections:
              order:
                table: orders
                groups: {article: article}
                lookups: {\(list { "\($0.name): {along: article, column: \($0.name)}" })}
            """,
        ]
        let names = samples.map(\.name)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, names) }
        }
    }

    @Test("A lookup shows the value that the referred record shows", arguments: TestEngine.allCases)
    func values(_ kind: TestEngine) async throws {
        try await Self.with(kind) { session, names in
            for id in [1, 2] {
                let article = try await session.get("/v1/records/articles/\(id)").json()["article"]
                let order = try await session.get("/v1/records/orders/\(id)").json()["order"]
                for name in names {
                    #expect(article?[name] != nil && article?[name] == order?[name], "\(name) of \(id)")
                }
            }
        }
    }

    @Test("A filter on a lookup chooses the records of a filter on the referred column", arguments: TestEngine.allCases)
    func filters(_ kind: TestEngine) async throws {
        try await Self.with(kind) { session, names in
            let article = try await session.get("/v1/records/articles/1").json()["article"]
            // The value 2 is not a boolean, and a filter cannot name an object.
            for name in names where !["odd", "tree"].contains(name) {
                let value = article?[name]?.description ?? ""
                let wanted = article?[name]?.array.isEmpty == false ? "[\(value)]" : value
                for (wanted, ids) in [(wanted, [1]), ("null", [2])] {
                    let filter = FilterFixture.query(#"{"orders": {"order.\#(name)": \#(wanted)}}"#)
                    let lines = try await session.get("/v1/snapshot?resources=orders&\(filter)").text
                    let found = try lines.split(separator: "\n").compactMap { try JSON(String($0))["id"]?.int }
                    #expect(found == ids, "\(name): \(wanted)")
                }
            }
        }
    }
}
