import Crypto
import Testing
import TestSupport

/// Numbers in JSON columns: 64-bit integers are exact, others are the nearest doubles.
@Suite struct JSONNumberTests {
    private static let schema = """
        CREATE TABLE notes (id INTEGER PRIMARY KEY, j JSON);
        INSERT INTO notes VALUES (1, '{"a":1.000000000000000005,"b":[1e-999,-0.0,12345678901234567890.5]}'), (2, '[0]');
        """
    private static let rules = [
        "notes.yaml":
            "resource: notes\nsections:\n  note:\n    table: notes\n    groups: {j: {column: j, merge: json}}\n"
    ]

    private static func with(
        _ kind: TestEngine, _ rights: MariaDBRights = .withTriggers, journal: JournalPlace? = nil,
        _ body: @escaping @Sendable (HTTPClient.Session) async throws -> Void
    ) async throws {
        var database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        if kind == .mariadb { database = try await rights.user(of: database) }
        try await RunningGateway.with(database, rules: rules, journal: journal) { gateway async throws in
            try await gateway.client(body)
        }
    }

    private static func edit(_ id: Int, _ old: String, _ new: String) -> String {
        #"{"id":\#(id),"changeset":{"note":{"j":{"old":\#(old),"new":\#(new)}}}}"#
    }

    private static func shown(_ id: Int, _ client: HTTPClient.Session) async throws -> String? {
        RawMembers.of(RawMembers.of(try await client.get("/v1/records/notes/\(id)").text)["note"] ?? "{}")["j"]
    }

    private static let numbers = [
        ("1e-999", "0"), ("-1e-9999", "0"), ("1e-99999999999999999999", "0"), ("1.000000000000000005", "1"),
        ("9007199254740993", "9007199254740993"), ("9007199254740993.5", "9007199254740994"), ("1E2", "100"),
        ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
        ("12345678901234567890.5", "12345678901234567000"), ("4.9e-324", "5e-324"), ("1e21", "1e+21"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"), ("-0.0", "0"),
        ("0.30000000000000004", "0.30000000000000004"),
    ]

    @Test("Other numbers are the nearest double", arguments: TestEngine.allCases, MariaDBRights.allCases)
    func doubles(_ kind: TestEngine, _ rights: MariaDBRights) async throws {
        try await Self.with(kind, rights) { client async throws in
            for isBare in [false, true] {
                for (sent, kept) in Self.numbers {
                    // The JSON column of SQLite has numeric affinity, and stores only signed 64-bit integers exactly.
                    if isBare, kind == .sqlite, kept == "12345678901234567000" { continue }
                    let (new, expected) = isBare ? (sent, kept) : ("[\(sent)]", "[\(kept)]")
                    let old = try #require(try await Self.shown(2, client))
                    if old == expected { continue }
                    let first = try await client.post("/v1/merge/notes", Self.edit(2, old, new))
                    #expect(first.status == 200, "\(new): \(first.text)")
                    #expect(try first.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(new): \(first.text)")
                    #expect(try await Self.shown(2, client) == expected, "\(new)")
                    let again = try await client.post("/v1/merge/notes", Self.edit(2, old, new))
                    #expect(try again.json()["outcomes"]?[0]?["outcome"]?.text == "already", "\(new): \(again.text)")
                    let same = try await client.post("/v1/merge/notes", Self.edit(2, expected, new))
                    #expect(try same.json()["outcomes"]?.array.isEmpty == true, "\(new): \(same.text)")
                }
            }
            for wrong in ["1e999", "-1e9999", "[1e99999999999999999999]", #"{"a":1.8e308}"#] {
                let answer = try await client.post("/v1/merge/notes", Self.edit(2, "null", wrong))
                #expect(answer.status == 400, "\(wrong): \(answer.text)")
                #expect(try answer.json()["path"]?.text == "changeset.note.j.new", "\(answer.text)")
            }
        }
    }

    /// Numbers that another program stored are read, echoed, hashed, merged and edited like any value.
    @Test("Old numbers do not prevent edits", arguments: TestEngine.allCases)
    func oldNumbers(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client async throws in
            let shown = #"{"a":1,"b":[0,0,12345678901234567000]}"#
            #expect(try await Self.shown(1, client) == shown)
            let echo = try await client.post("/v1/merge/notes", Self.edit(1, shown, shown))
            #expect(try echo.json()["outcomes"]?.array.isEmpty == true, "\(echo.text)")
            let merged = try await client.post(
                "/v1/merge/notes", Self.edit(1, #"{"b":[0.0,-0,12345678901234567000]}"#, #"{"b":[5],"a":1.0}"#))
            #expect(try merged.json()["record"]?["note"]?["j"] == (try JSON(#"{"a":1,"b":[5]}"#)), "\(merged.text)")
            let hash = SHA256.hash(data: Array(#"{"a":1,"b":[5]}"#.utf8)).map {
                String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }
            let hashed = try await client.post(
                "/v1/merge/notes",
                #"{"id":1,"changeset":{"note":{"j":{"oldHash":"sha256:\#(hash.joined())","new":1e-999}}}}"#)
            #expect(try hashed.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(hashed.text)")
        }
    }

    /// Under a key a number counts by its exact value, even beyond the range of a double.
    @Test("Equal numbers are equal in a key, however written", arguments: TestEngine.allCases)
    func keys(_ kind: TestEngine) async throws {
        try await Self.with(kind, journal: .ahead) { client async throws in
            func push(_ number: String) async throws -> HTTPClient.Answer {
                try await client.post(
                    "/v1/push",
                    #"{"key":"k","edits":[{"resource":"notes","id":2,"changeset":{"note":{"j":{"old":[0],"new":\#(number)}}}}]}"#
                )
            }
            let first = try await push("1e-9999")
            #expect(first.status == 200, "\(first.text)")
            #expect(try await push("10.0E-10000").text == first.text)
            #expect(try await push("1e-9998").json()["code"]?.text == "key-reused")
            #expect(try await push("0").json()["code"]?.text == "key-reused")
        }
    }

    @Test("Half a surrogate pair is refused at any position", arguments: TestEngine.allCases)
    func surrogates(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client async throws in
            for wrong in [#""\ud83d""#, #"["a\udc00"]"#, #"{"\ud800":1}"#, #""\ud83d\u0041""#] {
                let answer = try await client.post("/v1/merge/notes", Self.edit(2, "[0]", wrong))
                #expect(answer.status == 400, "\(wrong): \(answer.text)")
            }
            #expect(try await Self.shown(2, client) == "[0]")
        }
    }
}
