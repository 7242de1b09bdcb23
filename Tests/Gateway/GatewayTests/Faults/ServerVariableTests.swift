import Testing
import TestSupport

/// A server whose variables would change the meaning of the gateway's statements.
@Suite(.tags(.mariadb), .needsMariaDB, .timeLimit(.minutes(5))) struct ServerVariableTests {
    private static let sql = """
        CREATE TABLE items (id INT PRIMARY KEY, note VARCHAR(20), total INT, area INT, CHECK (total >= 0));
        CREATE TABLE areas (id INT PRIMARY KEY);
        ALTER TABLE items ADD FOREIGN KEY (area) REFERENCES areas (id);
        """
    private static let rules = [
        "items.yaml": """
        resource: items
        sections:
          item: {table: items, groups: {note: note, total: total, area: area}}
        """
    ]

    private static func edit(_ id: Int, _ group: String, _ old: String, _ new: String) -> String {
        #"{"resource":"items","id":\#(id),"changeset":{"item":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    @Test("Global variables of the server hide no row and switch off no constraint")
    func variables() async throws {
        let server = try await PrivateMariaDB()
        let numbers = 1...30
        let rows = numbers.map { "(\($0), 'n', 1, NULL)" }.joined(separator: ", ")
        let database = try await TestDatabase(
            .mariadb, mariadb: Self.sql + "INSERT INTO items VALUES \(rows);", sqlite: "", server: server)
        for (name, value) in [
            ("sql_select_limit", "10"), ("sql_auto_is_null", "1"), ("sql_safe_updates", "1"), ("max_join_size", "3"),
            ("foreign_key_checks", "0"), ("check_constraint_checks", "0"), ("completion_type", "CHAIN"),
            ("system_versioning_asof", "'2020-01-01 00:00:00'"),
        ] { try await server.run("SET GLOBAL \(name) = \(value)") }
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edits = numbers.map { Self.edit($0, "note", "\"n\"", "\"m\"") }.joined(separator: ",")
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edits)]}"#)
                #expect(answer.status == 200 && !answer.text.contains("missing"), "\(answer.text)")
                for (edit, code) in [
                    (Self.edit(1, "total", "1", "-1"), "check"), (Self.edit(1, "area", "null", "5"), "foreign-key"),
                ] {
                    let refused = try await client.post("/v1/push", #"{"edits":[\#(edit)]}"#)
                    #expect(refused.status == 422 && refused.text.contains("problem:\(code)"), "\(refused.text)")
                }
            }
        }
        let count = try await database.run("SET sql_big_selects = 1; SELECT COUNT(*) FROM items WHERE note = 'm';")
        #expect(count == "30\n")
    }
}
