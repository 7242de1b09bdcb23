import Testing
import TestSupport

/// Checks with `server-wins` restore the values of their fields.
@Suite struct CheckReversalTests {
    @Test("A restored value is reported for each edit that wrote it", arguments: TestEngine.allCases)
    func twoEdits(_ kind: TestEngine) async throws {
        let sql = "CREATE TABLE seats (id INTEGER PRIMARY KEY, number INTEGER); INSERT INTO seats VALUES (1, 0);"
        let rules = [
            "seats.yaml": """
            resource: seats
            sections:
              seat:
                table: seats
                groups: {number: {column: number, merge: max}}
                checks: [{name: small, sql: number < 5, fields: [number], on-failure: server-wins}]
            """
        ]
        @Sendable func edit(_ old: Int, _ new: Int) -> String {
            #"{"resource":"seats","id":1,"changeset":{"seat":{"number":{"old":\#(old),"new":\#(new)}}}}"#
        }
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"edits":[\#(edit(1, 5)),\#(edit(0, 2))]}"#)
            }
            let outcomes = try answer.json()["results"]?.array.map { $0["outcomes"]?[0] }
            #expect(outcomes?.map { $0?["outcome"]?.text } == ["server-won", "server-won"], "\(answer.text)")
            #expect(outcomes?.map { $0?["written"]?.int } == [0, 0], "\(answer.text)")
        }
        #expect(try await database.run("SELECT number FROM seats;") == "0\n")
    }

    @Test("A restored value that collides refuses the push", arguments: TestEngine.allCases, ["push", "edit"])
    func collision(_ kind: TestEngine, _ atomic: String) async throws {
        let sql = """
            CREATE TABLE seats (id INTEGER PRIMARY KEY, hall INTEGER, number INTEGER, UNIQUE (hall, number));
            INSERT INTO seats VALUES (1, 1, 3), (2, 2, 3), (3, 1, 4), (4, 4, 4);
            """
        let rules = [
            "seats.yaml": """
            resource: seats
            sections:
              seat:
                table: seats
                groups: {hall: hall, number: number}
                checks: [{name: small, sql: number < 9, fields: [number], on-failure: server-wins}]
            """
        ]
        let wrong = """
            {"resource":"seats","id":1,"changeset":{"seat":{"hall":{"old":1,"new":2},"number":{"old":3,"new":9}}}}
            """
        let sound = #"{"resource":"seats","id":4,"changeset":{"seat":{"number":{"old":4,"new":5}}}}"#
        let refused = #"{"resource":"seats","id":3,"changeset":{"seat":{"number":{"old":4,"new":3}}}}"#
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            for edits in [wrong, wrong + "," + sound] {
                let answer = try await gateway.client {
                    try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits)]}"#)
                }
                #expect(answer.status == (atomic == "edit" && edits != wrong ? 207 : 422), "\(answer.text)")
                let problem = try answer.json()["results"]?[0]?["problem"]
                #expect(problem?["code"]?.text == "unique", "\(answer.text)")
                #expect(problem?["record"]?["id"]?.int == 2)
            }
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(refused),\#(wrong)]}"#)
            }
            #expect(answer.status == 422, "\(answer.text)")
        }
        #expect(try await database.run("SELECT hall, number FROM seats WHERE id = 1;") == "1\t3\n")
    }
}
