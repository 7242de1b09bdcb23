import Testing
import TestSupport

/// The types of SQLite, as far as declared types and affinities go.
@Suite struct SQLiteColumnTypeTests {
    struct ColumnSample: Sendable {
        let name: String
        let declaration: String
        let stored: String
        let read: String
        let edit: String
        /// `typeof` and `quote` of the column after the edit.
        let found: String
        let refused: [String]
        var rule: String?
    }

    static let exhibits: [ColumnSample] = [
        ColumnSample(
            name: "i", declaration: "INTEGER", stored: "9223372036854775807", read: "\"9223372036854775807\"",
            edit: "-1", found: "integer|-1", refused: ["9223372036854775808", "1.5", "\"x\""]),
        ColumnSample(
            name: "b", declaration: "BOOLEAN", stored: "1", read: "true", edit: "false", found: "integer|0",
            refused: ["2"]),
        ColumnSample(
            name: "r", declaration: "REAL", stored: "0.1", read: "0.1", edit: "1e3", found: "real|1000.0",
            refused: ["9007199254740993", "\"x\""]),
        ColumnSample(
            name: "d", declaration: "DECIMAL(10,2)", stored: "12.5", read: "\"12.50\"", edit: "\"123456789.25\"",
            found: "real|123456789.25", refused: ["1.005"]),
        ColumnSample(
            name: "t", declaration: "VARCHAR(5)", stored: "'joe '", read: "\"joe \"", edit: "\"a'b\\u0000c\"",
            found: "text|", refused: ["5", "true"]),
        ColumnSample(
            name: "x", declaration: "BLOB", stored: "x'00FF'", read: "\"AP8=\"", edit: "\"\"", found: "blob|X''",
            refused: ["\"AQI\""]),
        ColumnSample(
            name: "day", declaration: "DATE", stored: "'2024-02-29'", read: "\"2024-02-29\"", edit: "\"2026-11-20\"",
            found: "text|'2026-11-20'", refused: ["\"2023-02-29\""]),
        ColumnSample(
            name: "at", declaration: "DATETIME", stored: "'2026-11-20 10:00:00'", read: "\"2026-11-20T10:00:00\"",
            edit: "\"2026-11-20T10:00:01\"", found: "text|'2026-11-20 10:00:01'", refused: ["\"2026-11-20T10:00:00Z\""]),
        ColumnSample(
            name: "ts", declaration: "TIMESTAMP", stored: "'2026-11-20 10:00:00'", read: "\"2026-11-20T10:00:00Z\"",
            edit: "\"2026-11-20T12:00:01+02:00\"", found: "text|'2026-11-20 10:00:01'",
            refused: ["\"2026-11-20T10:00:00\""]),
        ColumnSample(
            name: "j", declaration: "JSON", stored: "'{\"b\":1, \"a\":[]}'", read: "{\"a\":[],\"b\":1}", edit: "[1,2]",
            found: "text|'[1,2]'", refused: []),
        ColumnSample(
            name: "tags", declaration: "TEXT", stored: "'b,a'", read: "[\"b\",\"a\"]", edit: "[\"c\"]",
            found: "text|'c'", refused: ["[\"a,b\"]"], rule: "type: set"),
        ColumnSample(
            name: "s", declaration: "STRING", stored: "'abc'", read: "\"abc\"", edit: "\"x1\"", found: "text|'x1'",
            refused: ["\"007\"", "\" 1.5 \""], rule: "type: text"),
        ColumnSample(
            name: "f", declaration: "FLOAT", stored: "3", read: "3", edit: "5e-324",
            found: "real|4.94065645841247e-324",
            refused: ["1e-400", "1e999"]),
        ColumnSample(
            name: "n", declaration: "NUMERIC", stored: "0.30000000000000004", read: "\"0.30000000000000004\"",
            edit: "\"1e19\"", found: "real|1.0e+19", refused: ["9223372036854775809", "1e-400"]),
        ColumnSample(
            name: "big", declaration: "BIGINT UNSIGNED", stored: "-1", read: "-1", edit: "\"9223372036854775807\"",
            found: "integer|9223372036854775807", refused: ["9223372036854775808"]),
        ColumnSample(
            name: "jn", declaration: "JSON", stored: "1.5", read: "1.5", edit: "1e-999", found: "integer|0",
            refused: ["1e999", "18446744073709551615"]),
        ColumnSample(
            name: "jt", declaration: "TEXT", stored: "'1.000000000000000005'", read: "1", edit: "18446744073709551615",
            found: "text|'18446744073709551615'", refused: ["1e999"], rule: "type: json"),
        ColumnSample(
            name: "jx", declaration: "TEXT", stored: "'{a}'", read: "\"{a}\"", edit: "[]", found: "text|'[]'",
            refused: [],
            rule: "type: json"),
        ColumnSample(
            name: "at3", declaration: "DATETIME(3)", stored: "'2026-11-20T10:00:00.25'",
            read: "\"2026-11-20T10:00:00.250\"", edit: "\"2026-11-20T10:00:00.5\"",
            found: "text|'2026-11-20 10:00:00.500'", refused: ["\"2026-11-20T10:00:00.0001\""]),
        ColumnSample(
            name: "tm", declaration: "TIME", stored: "'10:00:00'", read: "\"10:00:00\"", edit: "\"-838:59:59\"",
            found: "text|'-838:59:59'", refused: ["\"839:00:00\""]),
        ColumnSample(
            name: "dt", declaration: "TEXT", stored: "'2026-11-20'", read: "\"2026-11-20\"", edit: "\"0000-00-00\"",
            found: "text|'0000-00-00'", refused: ["\"x\""], rule: "type: date"),
        ColumnSample(
            name: "u", declaration: "", stored: "'5'", read: "\"5\"", edit: "\"1e5\"", found: "text|'1e5'",
            refused: ["5"],
            rule: "type: text"),
        ColumnSample(
            name: "sd", declaration: "STRING", stored: "0.5", read: "\"0.5\"", edit: "\"0.1\"", found: "real|0.1",
            refused: ["\"x\""], rule: "type: decimal"),
        ColumnSample(
            name: "st", declaration: "STRING", stored: "'a,b'", read: "[\"a\",\"b\"]", edit: "[\"5\",\"6\"]",
            found: "text|'5,6'", refused: ["[\"5\"]"], rule: "type: set"),
        ColumnSample(
            name: "odate", declaration: "DATE", stored: "2460000.5", read: "2460000.5", edit: "\"2026-11-20\"",
            found: "text|'2026-11-20'", refused: ["2460000.25"]),
        ColumnSample(
            name: "oblob", declaration: "BLOB", stored: "5.0", read: "5", edit: "\"AQ==\"", found: "blob|X'01'",
            refused: ["6"]),
        ColumnSample(
            name: "obig", declaration: "DATE", stored: "9007199254740993", read: "\"9007199254740993\"",
            edit: "\"2026-11-20\"", found: "text|'2026-11-20'", refused: ["7"]),
        ColumnSample(
            name: "otext", declaration: "TEXT", stored: "x'0102'", read: "\"AQI=\"", edit: "\"a\"", found: "text|'a'",
            refused: ["7"]),
        // SQLite allows a text in an INTEGER column. It is shown, and a new value must be an integer.
        ColumnSample(
            name: "odd", declaration: "INTEGER", stored: "'abc'", read: "\"abc\"", edit: "5", found: "integer|5",
            refused: ["\"abd\""]),
    ]

    static let schema =
        "CREATE TABLE museum (id INTEGER PRIMARY KEY, \(exhibits.map { "\($0.name) \($0.declaration)" }.joined(separator: ", ")));"
        + "INSERT INTO museum VALUES (1, \(exhibits.map(\.stored).joined(separator: ", "))); INSERT INTO museum (id) VALUES (2);"

    static let rules: [String: String] = {
        let groups = exhibits.map { "      \($0.name): {column: \($0.name)\($0.rule.map { ", " + $0 } ?? "")}" }
        return [
            "m.yaml": "resource: museum\nsections:\n  e:\n    table: museum\n    groups:\n"
                + groups.joined(separator: "\n") + "\n"
        ]
    }()

    @Test("Each column is read and written, and refuses values that do not fit")
    func columns() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.schema)
        let before = try await database.run("SELECT * FROM museum;")
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) == 2)
            #expect(try await database.run("SELECT * FROM museum;") == before)
            try await gateway.client { client async throws in
                let first = try await client.get("/v1/records/museum/1").json()["e"]
                for exhibit in Self.exhibits {
                    #expect(first?[exhibit.name] == (try JSON(exhibit.read)), "\(exhibit.name)")
                    for wrong in exhibit.refused {
                        let answer = try await client.post("/v1/merge/museum", Self.edit(exhibit, wrong))
                        #expect(answer.status == 400, "\(exhibit.name) took \(wrong): \(answer.text)")
                    }
                    let answer = try await client.post("/v1/merge/museum", Self.edit(exhibit, exhibit.edit))
                    #expect(
                        try answer.json()["outcomes"]?[0]?["outcome"]?.text == "applied",
                        "\(exhibit.name): \(answer.text)")
                    #expect(try answer.json()["record"]?["e"]?[exhibit.name] != first?[exhibit.name])
                    let found = try await database.run(
                        "SELECT typeof(\(exhibit.name)) || '|' || quote(\(exhibit.name)) FROM museum WHERE id = 1;")
                    #expect(found.hasPrefix(exhibit.found), "\(exhibit.name): \(found)")
                }
                #expect(try await database.run("SELECT hex(t) FROM museum WHERE id = 1;") == "6127620063\n")
            }
        }
    }

    private static func edit(_ exhibit: ColumnSample, _ new: String) -> String {
        #"{"id":1,"changeset":{"e":{"\#(exhibit.name)":{"old":\#(exhibit.read),"new":\#(new)}}}}"#
    }
}
