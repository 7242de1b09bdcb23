import Testing
import TestSupport

/// The scan reads tables with keys of any type.
@Suite(.timeLimit(.minutes(2))) struct TimestampKeyTests {
    private static let types = [
        "TIMESTAMP", "TIMESTAMP(6)", "DATETIME", "DATETIME(3)", "DATE", "TIME(2)", "DECIMAL(20,0)", "VARCHAR(40)",
    ]

    private static func sql(_ type: String) -> String {
        let key = type.hasPrefix("TIMESTAMP") ? type + " DEFAULT '2026-01-01 00:00:00'" : type
        let value = value(type)
        return """
            CREATE TABLE readings (at \(key) PRIMARY KEY, n INT NOT NULL);
            CREATE TABLE notes (id INT PRIMARY KEY, reading \(key) NOT NULL, text VARCHAR(20));
            INSERT INTO readings VALUES (\(value(1)), 1), (\(value(2)), 2), (\(value(3)), 3);
            INSERT INTO notes VALUES (1, \(value(1)), 'a'), (2, \(value(2)), 'b');
            """
    }

    private static func value(_ type: String) -> @Sendable (Int) -> String {
        { number in
            switch type {
            case "DATE": "'2026-11-0\(number)'"
            case "TIME(2)": "'10:00:0\(number)'"
            case "DECIMAL(20,0)": "12345678901234567\(number)"
            default: "'2026-11-20 10:00:0\(number)'"
            }
        }
    }

    private static let rules = [
        "readings.yaml": """
        resource: readings
        sections:
          reading: {table: readings, groups: {n: n}}
          notes: {list: true, table: notes, parent: {reading: at}, groups: {text: text}}
        """
    ]

    @Test("A table with a time as its key is scanned", arguments: TestEngine.allCases, types)
    func timeKeys(_ kind: TestEngine, _ type: String) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql(type), sqlite: Self.sql(type))
        let value = Self.value(type)
        try await ScanFixture.run(on: database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                var position = try await client.position()
                func ids(_ numbers: Int...) async throws -> Set<String> {
                    let page = try await client.get("/v1/records/readings").json()
                    return Set(
                        page["records"]?.array.filter { record in numbers.contains(record["reading"]?["n"]?.int ?? 0) }
                            .map { "readings/\($0["id"].map(\.description) ?? "")" } ?? [])
                }
                let first = try await ids(1)
                let third = try await ids(3)
                for (sql, names) in [
                    ("UPDATE readings SET n = 7 WHERE at = \(value(1));", first),
                    ("UPDATE notes SET text = 'z' WHERE id = 1;", first),
                    ("INSERT INTO notes VALUES (3, \(value(3)), 'c');", third),
                    ("DELETE FROM notes WHERE id = 3;", third), ("DELETE FROM readings WHERE at = \(value(3));", third),
                ] {
                    try await database.run(sql)
                    let found = try await client.changes(after: position, until: names)
                    position = found.position
                    #expect(Set(found.changes.map(\.name)) == names, "\(sql)")
                }
                #expect(try await client.get("/readyz").json()["feed"]?["trouble"] == nil)
            }
        }
    }
}
