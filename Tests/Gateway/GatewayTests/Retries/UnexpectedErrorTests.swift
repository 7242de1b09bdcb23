import TestSupport
import Testing

/// An unexpected error.
///
/// The client may repeat its push twice, then it is refused.
@Suite(.timeLimit(.minutes(2))) struct UnexpectedErrorTests {
    /// A trigger whose error is in no list of the gateway.
    private static let mariadb = """
        CREATE TABLE things (id INT PRIMARY KEY, v INT); INSERT INTO things VALUES (1, 10), (2, 10);
        DELIMITER //
        CREATE TRIGGER odd BEFORE UPDATE ON things FOR EACH ROW
          IF NEW.v = 0 THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1105; END IF //
        DELIMITER ;
        """
    private static let sqlite = """
        CREATE TABLE things (id INTEGER PRIMARY KEY, v INT); INSERT INTO things VALUES (1, 10), (2, 10);
        CREATE TRIGGER odd BEFORE UPDATE ON things WHEN NEW.v = 0 BEGIN SELECT json('x'); END;
        """
    private static let rules = [
        "things.yaml": "resource: things\nsections:\n  thing: {table: things, groups: {v: v}}\n"
    ]

    private static func push(_ key: String, _ id: Int, _ value: Int) -> String {
        #"{"key":"\#(key)","edits":[{"resource":"things","id":\#(id),"changeset":{"thing":{"v":{"old":10,"new":\#(value)}}}}]}"#
    }

    private static let body = #"{"pushes":[\#(push("bad", 1, 0)),\#(push("good", 2, 11))]}"#

    private static func statuses(_ answer: HTTPClient.Answer) throws -> [String] {
        try answer.json()["results"]?.array.map {
            "\($0["code"]?.int ?? 0) " + ($0["problem"]?["code"]?.text ?? $0["status"]?.text ?? "")
        } ?? []
    }

    @Test(
        "The third unexpected error of a key is final, whichever gateway gets it",
        arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func thirdIsFinal(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
        for round in 1...2 {
            // Each round has a new gateway, so the count is stored.
            try await RunningGateway.with(database, rules: Self.rules, journal: place) { gateway async throws in
                try await gateway.client { client async throws in
                    let answer = try await client.post("/v1/sync", Self.body)
                    #expect(
                        try Self.statuses(answer) == ["500 database-error", "503 not-run"], "\(round): \(answer.text)")
                    #expect(try answer.json()["results"]?[0]?["problem"]?["retry"]?.bool == true)
                }
            }
        }
        try await RunningGateway.with(database, rules: Self.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                let third = try await client.post("/v1/sync", Self.body)
                #expect(try Self.statuses(third) == ["422 unexpected-error", "200 merged"], "\(third.text)")
                #expect(try third.json()["results"]?[0]?["problem"]?["retry"]?.bool == false)
                let again = try await client.post("/v1/sync", Self.body)
                #expect(try again.json()["results"] == third.json()["results"], "\(again.text)")
            }
        }
        #expect(try await database.run("SELECT v FROM things ORDER BY id;") == "10\n11\n")
    }

    @Test("Unexpected errors of other keys do not count", arguments: TestEngine.allCases)
    func eachKeyCountsAlone(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                for key in ["a", "b", "c", "d"] {
                    let answer = try await client.post("/v1/push", Self.push(key, 1, 0))
                    #expect(answer.status == 500, "\(answer.text)")
                }
                // The database was mended.
                try await database.run("DROP TRIGGER odd;")
                #expect(try await client.post("/v1/push", Self.push("a", 1, 0)).status == 200)
            }
        }
    }

    @Test("A push whose trigger names a missing table is refused the third time", arguments: TestEngine.allCases)
    func missingTableOfATrigger(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE things (id INTEGER PRIMARY KEY, v INT); INSERT INTO things VALUES (1, 10), (2, 10);
            CREATE TABLE audit (v INT);

            """
        let database = try await TestDatabase(
            kind,
            mariadb: sql + "CREATE TRIGGER tr AFTER UPDATE ON things FOR EACH ROW INSERT INTO audit VALUES (NEW.v);",
            sqlite: sql + "CREATE TRIGGER tr AFTER UPDATE ON things BEGIN INSERT INTO audit VALUES (NEW.v); END;")
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await database.run("DROP TABLE audit;")
            try await gateway.client { client async throws in
                for round in 1...3 {
                    let answer = try await client.post("/v1/push", Self.push("k", 1, 11))
                    let results = try answer.json()["results"]?[0]
                    let retry = try results?["problem"]?["retry"]?.bool ?? answer.json()["retry"]?.bool
                    #expect(retry == (round < 3), "\(round): \(answer.text)")
                    #expect((answer.status == 422) == (round == 3), "\(round): \(answer.text)")
                }
                let refused = try await client.get("/v1/journal?refused=true").json()["entries"]?.array
                #expect(refused?.count == 1)
            }
        }
        #expect(try await database.run("SELECT v FROM things ORDER BY id;") == "10\n10\n")
    }
}
