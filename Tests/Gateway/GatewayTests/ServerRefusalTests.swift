import Gateway
import Testing
import TestSupport

/// A MariaDB server refuses some data.
///
/// The client gets the reason, and other pushes are not affected.
@Suite(.timeLimit(.minutes(5))) struct ServerRefusalTests {
    struct Refused: Sendable, CustomTestStringConvertible {
        let what: String
        /// Statement that makes `things`, with a row 1 whose `v` is 10 and a row 2.
        let table: String
        let code: String
        var testDescription: String { what }
    }

    private static let plain =
        "CREATE TABLE things (id INT PRIMARY KEY, v INT); INSERT INTO things VALUES (1, 10), (2, 10);"

    private static func trigger(_ body: String) -> String {
        plain + "\nDELIMITER //\nCREATE TRIGGER guard BEFORE UPDATE ON things FOR EACH ROW \(body) //\nDELIMITER ;\n"
    }

    private static func signal(_ state: String, _ more: String = "") -> String {
        trigger("IF NEW.v = 0 THEN SIGNAL SQLSTATE '\(state)' SET MESSAGE_TEXT = 'not that'\(more); END IF")
    }

    static let cases = [
        Refused(
            what: "a view that the row would leave",
            table: plain.replacing("things", with: "base")
                + "CREATE VIEW things AS SELECT id, v FROM base WHERE v > 0 WITH CHECK OPTION;", code: "check"),
        Refused(
            what: "no partition",
            table: "CREATE TABLE things (id INT, v INT, PRIMARY KEY (id)) PARTITION BY LIST (id) "
                + "(PARTITION a VALUES IN (1, 2)); INSERT INTO things VALUES (1, 10), (2, 10);", code: "value"),
        Refused(
            what: "a division by zero",
            table: "SET sql_mode = CONCAT(@@sql_mode, ',ERROR_FOR_DIVISION_BY_ZERO,STRICT_ALL_TABLES');"
                + "CREATE TABLE things (id INT PRIMARY KEY, v INT, share INT AS (10 / v) STORED);"
                + "INSERT INTO things (id, v) VALUES (1, 10), (2, 10);", code: "value"),
        Refused(what: "a signal of its own state", table: signal("45000"), code: "trigger"),
        Refused(what: "a signal that nothing was found", table: signal("02000"), code: "trigger"),
        Refused(what: "a signal of another state", table: signal("99001"), code: "trigger"),
        Refused(what: "a signal with a number", table: signal("HY000", ", MYSQL_ERRNO = 9999"), code: "trigger"),
        Refused(
            what: "a trigger that writes its own table",
            table: trigger("IF NEW.v = 0 THEN UPDATE things SET v = 1 WHERE id = 2; END IF"), code: "trigger"),
        Refused(
            what: "a trigger that reads too much",
            table: trigger("IF NEW.v = 0 THEN SET NEW.v = (SELECT 1 UNION SELECT 2); END IF"), code: "trigger"),
    ]

    private static func edit(_ id: Int, to value: Int) -> String {
        #"{"resource": "things", "id": \#(id), "changeset": {"thing": {"v": {"old": 10, "new": \#(value)}}}}"#
    }

    @Test(
        "The refusal is final and the reason is named", .enabled(if: TestEngine.allCases.contains(.mariadb)),
        arguments: cases)
    func refused(_ refused: Refused) async throws {
        // The partition accepts no other id, so this push creates a row.
        let isCreation = refused.what == "no partition"
        let database = try await TestDatabase(.mariadb, mariadb: refused.table, sqlite: "")
        let rules = [
            "things.yaml": "resource: things\nsections:\n  thing: {table: things, key: id, groups: {v: v}}\n"
        ]
        let wrong =
            isCreation
            ? #"{"resource": "things", "id": 9, "changeset": {"thing": {"old": null, "new": {"v": 0}}}}"#
            : Self.edit(1, to: 0)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway in
            try await gateway.client { client in
                let alone = try await client.post("/v1/push", #"{"key": "a", "edits": [\#(wrong)]}"#)
                #expect(alone.status == 422, "\(alone.text)")
                let problem = try alone.json()["results"]?[0]?["problem"]
                #expect(problem?["code"]?.text == refused.code, "\(alone.text)")
                #expect(problem?["retry"]?.bool == false)
                let beside = try await client.post(
                    "/v1/push", #"{"key": "b", "atomic": "edit", "edits": [\#(wrong), \#(Self.edit(2, to: 11))]}"#)
                #expect(beside.status == 207, "\(beside.text)")
                #expect(try beside.json()["status"]?.text == "partial")
                let sync = try await client.post(
                    "/v1/sync",
                    #"{"pushes": [{"key": "c", "edits": [\#(wrong)]}, {"key": "d", "edits": [\#(Self.edit(1, to: 12))]}]}"#
                )
                #expect(
                    try sync.json()["results"]?.array.map { $0["status"]?.text } == ["failed", "merged"], "\(sync.text)"
                )
            }
            let stands = try await gateway.database.run("SELECT id, v FROM things ORDER BY id;")
            #expect(stands == "1\t12\n2\t11\n", "\(stands)")
        }
    }
}
