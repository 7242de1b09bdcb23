import Testing
import TestSupport

/// One table name in two schemas.
@Suite(.tags(.mariadb), .needsMariaDB, .timeLimit(.minutes(5))) struct TwoSchemasTests {
    private static func rules(_ resource: String, schema: String?) -> String {
        """
        resource: \(resource)
        sections:
          row:
            table: orders
            \(schema.map { "schema: " + $0 } ?? "client-keys: allow")
            groups: {who: who, note: note, total: total}
            on-missing: restore
            checks: [{name: positive, sql: "total >= 0", fields: [total]}]
        """
    }

    private static func edit(_ resource: String, _ id: Int, _ group: String, _ old: String, _ new: String) -> String {
        #"{"resource":"\#(resource)","id":\#(id),"changeset":{"row":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    private static func deletion(_ resource: String, _ id: Int, _ base: String) -> String {
        #"{"resource":"\#(resource)","id":\#(id),"changeset":{"row":{"old":\#(base),"new":null}}}"#
    }

    /// Runs pushes, and returns their answers and the rows of both tables.
    private static func answers(
        to pushes: [[String]]
    ) async throws -> (answers: [HTTPClient.Answer], own: String, archived: String) {
        let table = "orders (id INT PRIMARY KEY, who VARCHAR(20), note VARCHAR(20), total INT)"
        let database = try await TestDatabase(
            .mariadb, mariadb: "CREATE TABLE \(table); INSERT INTO orders VALUES (7, 'main', 'm', 1);", sqlite: "")
        let archive = database.name + "_archive"
        try await database.runAsOperator(
            """
            CREATE DATABASE \(archive); CREATE TABLE \(archive).\(table);
            INSERT INTO \(archive).orders VALUES (5, 'a', 'secret', 99), (6, 'a', 'secret', 98), (7, 'a', 'secret', 97);
            GRANT SELECT, INSERT, UPDATE, DELETE ON \(archive).orders TO \(database.account)@localhost;
            """)
        let rules = ["orders.yaml": Self.rules("orders", schema: nil), "old.yaml": Self.rules("old", schema: archive)]
        let answers = try await RunningGateway.with(database, rules: rules, journal: .together) {
            gateway async throws in
            try await gateway.client { client async throws in
                var answers: [HTTPClient.Answer] = []
                for edits in pushes {
                    answers.append(try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#))
                }
                return answers
            }
        }
        let own = try await database.run("SELECT * FROM orders ORDER BY id;")
        let archived = try await database.run("SELECT id FROM \(archive).orders ORDER BY id;")
        return (answers, own, archived)
    }

    @Test("A row is not restored with the values of another schema's row")
    func restoring() async throws {
        let result = try await Self.answers(to: [
            [Self.edit("old", 5, "note", #""secret""#, #""secret 2""#)],
            [Self.edit("orders", 5, "who", #""x""#, #""main""#)],
            [
                Self.deletion("old", 6, #"{"who":"a","note":"secret","total":98}"#),
                Self.edit("orders", 6, "who", #""x""#, #""main""#),
            ],
        ])
        #expect(!result.own.contains("secret"), "\(result.answers.map(\.text))")
        #expect(!result.answers.dropFirst().map(\.text).joined().contains("secret 2"))
    }

    @Test("The deletion of a row does not affect the check of another schema's row")
    func checking() async throws {
        let result = try await Self.answers(to: [
            [
                Self.edit("orders", 7, "total", "1", "-5"),
                Self.deletion("old", 7, #"{"who":"a","note":"secret","total":97}"#),
            ]
        ])
        #expect(result.answers[0].status == 422, "\(result.answers[0].text)")
        #expect(result.own == "7\tmain\tm\t1\n" && result.archived == "5\n6\n7\n")
    }

    @Test("Resources that spell one table with and without its schema share its rows")
    func oneTable() async throws {
        let table = "orders (id INT PRIMARY KEY, who VARCHAR(20), note VARCHAR(20), total INT)"
        let database = try await TestDatabase(
            .mariadb, mariadb: "CREATE TABLE \(table); INSERT INTO orders VALUES (7, 'main', 'm', 1);", sqlite: "")
        let rules = [
            "orders.yaml": Self.rules("orders", schema: nil), "same.yaml": Self.rules("same", schema: database.name),
        ]
        let answer = try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edits = [
                    Self.edit("orders", 7, "note", #""m""#, #""n""#), Self.edit("same", 7, "note", #""n""#, #""o""#),
                ]
                return try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
            }
        }
        #expect(answer.status == 200 && !answer.text.contains("conflict"), "\(answer.text)")
        #expect(try await database.run("SELECT note FROM orders;") == "o\n")
    }
}
