import Testing
import TestSupport

/// Tables without transactions are refused unless the rules allow them.
///
/// Compensations undo a refused push, and no answer is atomic.
@Suite struct NonTransactionalTests {
    private static let schema = """
        CREATE TABLE bins (id INT PRIMARY KEY AUTO_INCREMENT, label VARCHAR(20) NOT NULL, state VARCHAR(20),
          hidden INT NOT NULL DEFAULT 9) ENGINE=MyISAM;
        CREATE TABLE parts (id INT PRIMARY KEY AUTO_INCREMENT, bin INT NOT NULL, code VARCHAR(20) UNIQUE) ENGINE=Aria;
        CREATE TABLE safe (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB;
        INSERT INTO bins VALUES (1, 'one', 'new', 3), (2, 'two', 'new', 4);
        INSERT INTO parts VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
        INSERT INTO safe VALUES (1, 0);
        """
    private static let bins = """
        resource: bins
        sections:
          bin:
            table: bins
            groups: {label: label, state: {column: state, on-conflict: reject}}
          parts:
            list: true
            table: parts
            parent: {bin: id}
            groups: {code: code}
        """
    private static let safe = "resource: safe\nsections:\n  row: {table: safe, groups: {n: n}}\n"

    private static func database() async throws -> TestDatabase {
        try await TestDatabase(.mariadb, mariadb: schema, sqlite: "")
    }

    @Test("They are refused unless the rules allow them", .tags(.mariadb), .needsMariaDB)
    func refusedByDefault() async throws {
        let database = try await Self.database()
        await #expect(throws: Shell.Failure.self) {
            try await RunningGateway.with(database, rules: ["bins.yaml": Self.bins]) { _ in }
        }
    }

    @Test("All writes of a refused push are compensated", .tags(.mariadb), .needsMariaDB)
    func refusedPush() async throws {
        let database = try await Self.database()
        let rules = ["bins.yaml": Self.bins + "\nnon-transactional: allow\n", "safe.yaml": Self.safe]
        let sum = "CHECKSUM TABLE bins, parts, safe"
        let before = try await database.run(sum)
        try await database.grantTableLocks()
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                // Everything is written before the last edit fails: an update, inserts, deletes of an item and a record.
                let edits = [
                    #"{"resource":"safe","id":1,"changeset":{"row":{"n":{"old":0,"new":5}}}}"#,
                    #"{"resource":"bins","id":1,"changeset":{"bin":{"label":{"old":"one","new":"uno"}},"parts":[{"id":1,"old":{"code":"a"},"new":null},{"id":-1,"old":null,"new":{"code":"z"}}]}}"#,
                    #"{"resource":"bins","id":2,"changeset":{"bin":{"old":{"label":"two"},"new":null}}}"#,
                    #"{"resource":"bins","id":-9,"changeset":{"bin":{"old":null,"new":{"label":"x"}}}}"#,
                ]
                let collision = #"{"resource":"bins","id":1,"changeset":{"parts":[{"old":null,"new":{"code":"b"}}]}}"#
                let rejection = #"{"resource":"bins","id":1,"changeset":{"bin":{"state":{"old":"old","new":"gone"}}}}"#
                for (last, status) in [(collision, 422), (rejection, 409)] {
                    let all = (edits + [last]).joined(separator: ",")
                    let answer = try await client.post("/v1/push", "{\"edits\":[\(all)]}")
                    #expect(answer.status == status, "\(answer.text)")
                    #expect(try answer.json()["atomic"]?.bool == false)
                    #expect(try await database.run(sum) == before)
                }
                let mixed = "{\"atomic\":\"edit\",\"edits\":[\(collision),\(edits[0])]}"
                #expect(try await client.post("/v1/push", mixed).status == 400)
                let each = "{\"atomic\":\"edit\",\"edits\":[\(collision),\(edits[2])]}"
                let kept = try await client.post("/v1/push", each)
                #expect(kept.status == 207, "\(kept.text)")
                #expect(try await database.run("SELECT id FROM bins; SELECT id FROM parts;") == "1\n1\n2\n")
                let plain = try await client.post("/v1/merge/safe", #"{"id":1,"changeset":{}}"#)
                #expect(try plain.json()["atomic"] == nil)
                let merged = try await client.post("/v1/push", "{\"edits\":[\(edits[1])]}")
                #expect(merged.status == 200, "\(merged.text)")
                #expect(try await database.run("SELECT label, hidden FROM bins WHERE id = 1") == "uno\t3\n")
            }
        }
    }
}
