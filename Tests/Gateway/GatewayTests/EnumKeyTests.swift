import Testing
import TestSupport

/// MariaDB sorts an ENUM by the positions of its members and compares it to a text as texts.
@Suite struct EnumKeyTests {
    private static let languages = ["z", "de", "", "a"]
    private static let rules = [
        "texts.yaml": "resource: texts\nsections:\n  text: {table: texts, groups: {value: value}}\n",
        "flags.yaml": "resource: flags\nsections:\n  flag: {table: flags, groups: {value: value}}\n",
    ]

    private static var sql: String {
        let rows = languages.flatMap { language in (1...700).map { "('\(language)', \($0), 0)" } }
        return """
            CREATE TABLE texts (lang ENUM('z', 'de', '', 'a') NOT NULL, n INTEGER, value INTEGER, PRIMARY KEY (lang, n));
            INSERT INTO texts VALUES \(rows.joined(separator: ", "));
            CREATE TABLE flags (name ENUM('z', 'a', 'B') PRIMARY KEY, value INTEGER);
            INSERT INTO flags VALUES ('z', 1), ('a', 2), ('B', 3);
            """
    }

    @Test("Pages, snapshots and the scan contain every row")
    func pages() async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.sql, sqlite: "")
        try await ScanFixture.run(on: database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await Self.ids(of: "flags", limit: 1, client) == [#""z""#, #""a""#, #""B""#])
                let ids = try await Self.ids(of: "texts", limit: 400, client)
                #expect(ids.count == 2_800 && Set(ids).count == 2_800)
                #expect(ids.first == #"["z",1]"# && ids.last == #"["a",700]"#)
                let lines = try await client.get("/v1/snapshot?resources=texts").text.split(separator: "\n")
                    .map { try JSON(String($0)) }
                #expect(lines.compactMap { $0["record"] == nil ? nil : $0["id"]?.description } == ids)
                #expect(lines.last?["end"]?["records"]?.int == 2_800)
                let cursors = lines.compactMap { $0["cursor"]?.text }
                let cursor = try #require(cursors.last)
                let rest = try await client.get("/v1/snapshot?after=\(cursor)").text.split(separator: "\n")
                #expect(rest.count > 1 && rest.count < 2_800)

                let position = try await client.position()
                try await database.run("UPDATE texts SET value = 7 WHERE n IN (1, 350, 700);")
                let reported = Set(
                    Self.languages.flatMap { text in [1, 350, 700].map { "texts/[\"\(text)\",\($0)]" } })
                #expect(Set(try await client.changes(after: position, until: reported).changes.map(\.name)) == reported)
            }
        }
    }

    private static func ids(of resource: String, limit: Int, _ client: HTTPClient.Session) async throws -> [String] {
        var ids: [String] = []
        var next: String? = ""
        while let after = next, ids.count < 10_000 {
            let page = try await client.get(
                "/v1/records/\(resource)?limit=\(limit)" + (after.isEmpty ? "" : "&after=" + after)
            ).json()
            ids += (page["records"]?.array ?? []).compactMap { $0["id"]?.description }
            next = page["next"]?.text
        }
        return ids
    }
}
