import Operations
import TestSupport
import Testing

/// Keys of text columns that contain digits.
@Suite struct TextKeyTests {
    private static let sql = """
        CREATE TABLE articles (code VARCHAR(10) PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE parts (shop INTEGER, code VARCHAR(10), name VARCHAR(20), PRIMARY KEY (shop, code));
        INSERT INTO articles VALUES ('10', 'tea'), ('010', 'rice');
        INSERT INTO parts VALUES (1, '10', 'lid');
        """

    private static let rules = [
        "articles.yaml": "resource: articles\nsections: {article: {table: articles, groups: {name: name}}}\n",
        "parts.yaml": "resource: parts\nsections: {part: {table: parts, groups: {name: name}}}\n",
    ]

    @Test("An id is the same as string and as number", arguments: TestEngine.allCases)
    func numbers(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client in
                for (resource, section, id, old) in [
                    ("articles", "article", "10", "tea"), ("articles", "article", #""10""#, "new"),
                    ("parts", "part", "[1,10]", "lid"), ("parts", "part", #"["1","10"]"#, "new"),
                ] {
                    let answer = try await client.post(
                        "/v1/merge/\(resource)",
                        #"{"id":\#(id),"changeset":{"\#(section)":{"name":{"old":"\#(old)","new":"new"}}}}"#)
                    #expect(answer.status == 200, "\(id): \(answer.text)")
                }
            }
            #expect(try await database.run("SELECT name FROM articles ORDER BY code;") == "rice\nnew\n")
            #expect(try await database.run("SELECT name FROM parts;") == "new\n")
        }
    }

    @Test("A record with an empty key is not created, since no URL names it", arguments: TestEngine.allCases)
    func empty(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client in
                func create(_ resource: String, _ section: String, _ id: String) async throws -> HTTPClient.Answer {
                    try await client.post(
                        "/v1/merge/\(resource)",
                        #"{"id":\#(id),"changeset":{"\#(section)":{"old":null,"new":{"name":"salt"}}}}"#)
                }
                let refused = try await create("articles", "article", #""""#)
                #expect(refused.status == 400, "\(refused.text)")
                #expect(try refused.json()["code"]?.text == "malformed-id" && refused.json()["path"]?.text == "id")
                // A key of several columns has a comma in its URL.
                let part = try await create("parts", "part", #"[1,""]"#)
                #expect(part.status == 200, "\(part.text)")
                #expect(try await client.get("/v1/records/parts/1,").json()["part"]?["name"]?.text == "salt")
                // Another program may store such a row.
                try await database.run("INSERT INTO articles VALUES ('', 'none');")
                #expect(try await create("articles", "article", #""""#).text.contains(#""client-won""#))
                var (names, next) = ([String](), "")
                repeat {
                    let page = try await client.get(
                        "/v1/records/articles?limit=1\(names.isEmpty ? "" : "&after=\(next)")"
                    )
                    .json()
                    names += page["records"]?.array.compactMap { $0["article"]?["name"]?.text } ?? []
                    guard let after = page["next"]?.text else { break }
                    next = after
                } while names.count < 5
                #expect(names == ["salt", "rice", "tea"])
            }
        }
    }
}
