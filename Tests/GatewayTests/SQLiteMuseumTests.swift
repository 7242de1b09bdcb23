import Testing
import TestSupport

/// The types of SQLite, as far as declared types and affinities go.
@Suite struct SQLiteMuseumTests {
    struct Exhibit: Sendable {
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

    static let exhibits: [Exhibit] = [
        Exhibit(
            name: "i", declaration: "INTEGER", stored: "9223372036854775807", read: "\"9223372036854775807\"",
            edit: "-1", found: "integer|-1", refused: ["9223372036854775808", "1.5", "\"x\""]),
        Exhibit(
            name: "b", declaration: "BOOLEAN", stored: "1", read: "true", edit: "false", found: "integer|0",
            refused: ["2"]),
        Exhibit(
            name: "r", declaration: "REAL", stored: "0.1", read: "0.1", edit: "1e3", found: "real|1000.0",
            refused: ["9007199254740993", "\"x\""]),
        Exhibit(
            name: "d", declaration: "DECIMAL(10,2)", stored: "12.5", read: "\"12.50\"", edit: "\"0.25\"",
            found: "real|0.25", refused: ["1.005", "123456789"]),
        Exhibit(
            name: "t", declaration: "VARCHAR(5)", stored: "'joe '", read: "\"joe \"", edit: "\"a'b\\u0000c\"",
            found: "text|", refused: ["5", "true"]),
        Exhibit(
            name: "x", declaration: "BLOB", stored: "x'00FF'", read: "\"AP8=\"", edit: "\"\"", found: "blob|X''",
            refused: ["\"AQI\""]),
        Exhibit(
            name: "day", declaration: "DATE", stored: "'2024-02-29'", read: "\"2024-02-29\"", edit: "\"2026-11-20\"",
            found: "text|'2026-11-20'", refused: ["\"2023-02-29\""]),
        Exhibit(
            name: "at", declaration: "DATETIME", stored: "'2026-11-20 10:00:00'", read: "\"2026-11-20T10:00:00\"",
            edit: "\"2026-11-20T10:00:01\"", found: "text|'2026-11-20 10:00:01'", refused: ["\"2026-11-20T10:00:00Z\""]),
        Exhibit(
            name: "ts", declaration: "TIMESTAMP", stored: "'2026-11-20 10:00:00'", read: "\"2026-11-20T10:00:00Z\"",
            edit: "\"2026-11-20T12:00:01+02:00\"", found: "text|'2026-11-20 10:00:01'",
            refused: ["\"2026-11-20T10:00:00\""]),
        Exhibit(
            name: "j", declaration: "JSON", stored: "'{\"b\":1, \"a\":[]}'", read: "{\"a\":[],\"b\":1}", edit: "[1,2]",
            found: "text|'[1,2]'", refused: []),
        Exhibit(
            name: "tags", declaration: "TEXT", stored: "'b,a'", read: "[\"b\",\"a\"]", edit: "[\"c\"]",
            found: "text|'c'", refused: ["[\"a,b\"]"], rule: "type: set"),
        Exhibit(
            name: "s", declaration: "STRING", stored: "'abc'", read: "\"abc\"", edit: "\"x1\"", found: "text|'x1'",
            refused: ["\"007\"", "\" 1.5 \""], rule: "type: text"),
        // A text in an INTEGER column, as SQLite allows it: shown as it is, replaced by what the type has.
        Exhibit(
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

    @Test func everyColumnIsReadWrittenAndGuarded() async throws {
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

    private static func edit(_ exhibit: Exhibit, _ new: String) -> String {
        #"{"id":1,"changeset":{"e":{"\#(exhibit.name)":{"old":\#(exhibit.read),"new":\#(new)}}}}"#
    }
}
