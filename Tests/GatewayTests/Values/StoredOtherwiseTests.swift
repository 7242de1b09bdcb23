import Testing
import TestSupport

/// A column that keeps another value than was written, every time: a later change of the push is carried into it by foreign
/// keys through a table that the database user cannot see.
@Suite struct StoredOtherwiseTests {
    private static let schema = """
        CREATE TABLE brands (id INTEGER PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE);
        CREATE TABLE makers (code VARCHAR(20) NOT NULL PRIMARY KEY,
          FOREIGN KEY (code) REFERENCES brands (code) ON UPDATE CASCADE);
        CREATE TABLE cars (id INTEGER PRIMARY KEY, brand VARCHAR(20), n INTEGER,
          FOREIGN KEY (brand) REFERENCES makers (code) ON UPDATE CASCADE);
        INSERT INTO brands VALUES (1, 'a'), (2, 'b');
        INSERT INTO makers VALUES ('a'), ('b');
        INSERT INTO cars VALUES (1, 'b', 0);
        """
    private static let rules = [
        "brands.yaml": "resource: brands\nsections:\n  brand: {table: brands, groups: {code: code}}\n",
        "cars.yaml": "resource: cars\nsections:\n  car: {table: cars, groups: {brand: brand, n: n}}\n",
    ]

    private static func push(_ key: String, _ atomic: String) -> String {
        #"""
        {"key":"\#(key)","atomic":"\#(atomic)","edits":[
          {"resource":"cars","id":1,"changeset":{"car":{"brand":{"old":"b","new":"a"},"n":{"old":0,"new":1}}}},
          {"resource":"brands","id":1,"changeset":{"brand":{"code":{"old":"a","new":"c"}}}}]}
        """#
    }

    /// Values that a foreign key carries on are no difference, if the rules show both tables.
    @Test(arguments: TestEngine.allCases) func whatAForeignKeyCarriesOnIsTold(_ kind: TestEngine) async throws {
        let schema = """
            CREATE TABLE brands (id INTEGER PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE);
            CREATE TABLE cars (id INTEGER PRIMARY KEY, brand VARCHAR(20), n INTEGER,
              FOREIGN KEY (brand) REFERENCES brands (code) ON UPDATE CASCADE);
            INSERT INTO brands VALUES (1, 'a'), (2, 'b');
            INSERT INTO cars VALUES (1, 'b', 0);
            """
        let database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        let user = kind == .mariadb ? try await MariaDBRights.withTriggers.user(of: database) : database
        try await RunningGateway.with(user, rules: Self.rules, journal: .ahead) { gateway async throws in
            try await gateway.client { client async throws in
                let answer = try await client.post("/v1/push", Self.push("k", "push"))
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer.json()["results"]?[0]?["record"]?["car"]?["brand"]?.text == "c")
                #expect(try await database.run("SELECT brand, n FROM cars;") == "c\t1\n")
            }
        }
    }

    @Test("An edit whose value is stored otherwise is refused for good", .tags(.mariadb), .needsMariaDB)
    func theEditIsRefusedForGood() async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.schema, sqlite: "")
        let user = try await database.seeing(["brands", "cars"])
        try await RunningGateway.with(user, rules: Self.rules, journal: .ahead) { gateway async throws in
            try await gateway.client { client async throws in
                let whole = try await client.post("/v1/push", Self.push("whole", "push"))
                #expect(whole.status == 422, "\(whole.text)")
                let result = try whole.json()
                let problem = result["results"]?[0]?["problem"]
                #expect(problem?["code"]?.text == "not-stored-exactly", "\(whole.text)")
                #expect(problem?["retry"]?.bool == false)
                #expect(problem?["path"]?.text == "edits[0].changeset.car")
                #expect(problem?["fields"] == (try JSON(#"["brand"]"#)))
                #expect(result["results"]?[1]?["problem"]?["code"]?.text == "rolled-back", "\(whole.text)")
                #expect(try await database.run("SELECT brand, n FROM cars;") == "b\t0\n")
                // It is kept: the same push has the same answer, and an operator finds it.
                #expect(try await client.post("/v1/push", Self.push("whole", "push")).text == whole.text)
                let refused = try await client.get("/v1/journal?refused=true").json()["entries"]?.array ?? []
                #expect(refused.contains { $0["key"]?.text == "whole" }, "\(refused)")
                // One by one the other edit stands.
                let each = try await client.post("/v1/push", Self.push("each", "edit"))
                #expect(each.status == 207, "\(each.text)")
                #expect(try each.json()["results"]?[0]?["problem"]?["code"]?.text == "not-stored-exactly")
                #expect(try each.json()["results"]?[1]?["status"]?.text == "merged", "\(each.text)")
                #expect(try await database.run("SELECT brand, n FROM cars;") == "b\t0\n")
                #expect(try await database.run("SELECT code FROM brands WHERE id = 1;") == "c\n")
            }
        }
    }
}
