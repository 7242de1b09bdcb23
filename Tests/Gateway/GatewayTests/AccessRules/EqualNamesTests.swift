import Testing
import TestSupport

/// Two tables with similar names, or two conditions with similar texts.
@Suite(.timeLimit(.minutes(5))) struct EqualNamesTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private static func edit(_ resource: String, _ id: Int, _ group: String, _ old: String, _ new: String) -> String {
        """
        {"resource":"\(resource)","id":\(id),"changeset":{"row":{"\(group)":{"old":\(old),"new":\(new)}}}}
        """
    }

    private static func outcomes(_ answer: HTTPClient.Answer) throws -> [String] {
        try answer.json()["results"]?.array.flatMap { result in
            (result["outcomes"]?.array ?? []).compactMap { $0["outcome"]?.text }
        } ?? []
    }

    @Test(
        "Two tables whose names differ only in their normalization form are two tables", arguments: TestEngine.allCases)
    func normalizationForms(_ kind: TestEngine) async throws {
        let quote = kind == .mariadb ? "`" : "\""
        let sql = [Self.composed, Self.decomposed].map { name in
            "CREATE TABLE \(quote)\(name)\(quote) (id INT PRIMARY KEY, note VARCHAR(20));"
                + "INSERT INTO \(quote)\(name)\(quote) VALUES (1, 'n');"
        }.joined()
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let rules = [("a", Self.composed), ("b", Self.decomposed)].map { resource, table in
            ("\(resource).yaml", "resource: \(resource)\nsections:\n  row: {table: \(table), groups: {note: note}}\n")
        }
        try await RunningGateway.with(
            database, rules: Dictionary(uniqueKeysWithValues: rules), journal: .together
        ) { gateway async throws in
            try await gateway.client { client async throws in
                for resource in ["a", "b"] {
                    let answer = try await client.post(
                        "/v1/push",
                        #"{"edits":[\#(Self.edit(resource, 1, "note", "\"n\"", "\"\(resource)\""))]}"#)
                    #expect(try Self.outcomes(answer) == ["applied"], "\(answer.text)")
                }
            }
        }
        #expect(try await database.run("SELECT note FROM \(quote)\(Self.composed)\(quote);") == "a\n")
        #expect(try await database.run("SELECT note FROM \(quote)\(Self.decomposed)\(quote);") == "b\n")
    }

    @Test(
        "Two conditions that differ only in their normalization form show different rows",
        arguments: TestEngine.allCases)
    func conditions(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE shops (id INT PRIMARY KEY, city VARCHAR(20) /*binary*/, note VARCHAR(20));
            INSERT INTO shops VALUES (1, '\(Self.composed)', 'n'), (2, '\(Self.decomposed)', 'n');
            """
        let database = try await TestDatabase(
            kind, mariadb: sql.replacing("/*binary*/", with: "COLLATE utf8mb4_bin"), sqlite: sql)
        let rules = [("a", Self.composed), ("b", Self.decomposed)].map { resource, city in
            (
                "\(resource).yaml",
                """
                resource: \(resource)
                sections:
                  row: {table: shops, where: "city = '\(city)'", groups: {note: note}}
                """
            )
        }
        try await RunningGateway.with(
            database, rules: Dictionary(uniqueKeysWithValues: rules), journal: .together
        ) { gateway async throws in
            try await gateway.client { client async throws in
                for (resource, own, other) in [("a", 1, 2), ("b", 2, 1)] {
                    #expect(try await client.get("/v1/records/\(resource)/\(own)").status == 200)
                    #expect(try await client.get("/v1/records/\(resource)/\(other)").status == 404)
                }
            }
        }
    }
}
