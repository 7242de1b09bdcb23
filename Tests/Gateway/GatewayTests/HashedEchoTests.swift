import TestSupport
import Testing

/// Legacy values that a client sends back with a digest as base.
@Suite struct HashedEchoTests {
    private static let rows = """
        INSERT INTO pots VALUES (1, '2020-00-10', 'a', '2020-00-10'), (2, '2020-01-10', 'a', '2020-01-10');
        """
    private static let mariadb = """
        SET SESSION sql_mode = '';
        CREATE TABLE pots (id INT PRIMARY KEY, made DATE, glaze VARCHAR(10), fired DATE);
        """ + rows
    private static let sqlite =
        "CREATE TABLE pots (id INTEGER PRIMARY KEY, made DATE, glaze VARCHAR(10), fired DATE);" + rows
    private static let rules = [
        "pots.yaml": """
        resource: pots
        sections:
          pot:
            table: pots
            on-missing: drop
            groups:
              look: {fields: {made: {column: made, type: date}, glaze: glaze}}
              fired: {column: fired, type: date}
        """
    ]

    private struct Case: Sendable, CustomTestStringConvertible {
        let id: Int
        let group: String
        let base: String
        let new: String
        /// The outcome, or the path of the refused value.
        let expected: String
        var testDescription: String { "\(id) \(group) \(base) \(new)" }
    }

    private static let legacy = #"{"glaze":"a","made":"2020-00-10"}"#
    private static let cases = [
        Case(id: 1, group: "look", base: legacy, new: legacy, expected: "unchanged"),
        Case(id: 1, group: "look", base: legacy, new: #"{"glaze":"b","made":"2020-00-10"}"#, expected: "applied"),
        Case(
            id: 1, group: "look", base: #"{"glaze":"c","made":"2020-00-10"}"#,
            new: #"{"glaze":"b","made":"2020-00-10"}"#, expected: "client-won"),
        Case(id: 1, group: "fired", base: #""2020-00-10""#, new: #""2020-00-10""#, expected: "unchanged"),
        // The row has another value: the client's would be written.
        Case(
            id: 2, group: "look", base: legacy, new: #"{"glaze":"b","made":"2020-00-10"}"#,
            expected: "edits[0].changeset.pot.look.new.made"),
        Case(id: 2, group: "look", base: legacy, new: legacy, expected: "unchanged"),
        Case(
            id: 2, group: "fired", base: #""2020-01-10""#, new: #""2020-00-10""#,
            expected: "edits[0].changeset.pot.fired.new"),
        // A restored row would have the same effect.
        Case(
            id: 9, group: "look", base: legacy, new: #"{"glaze":"b","made":"2020-00-10"}"#,
            expected: "edits[0].changeset.pot.look.new.made"),
        Case(id: 9, group: "look", base: legacy, new: legacy, expected: "unchanged"),
    ]

    @Test("A value that equals the stored one is accepted with a digest as base", arguments: TestEngine.allCases)
    func echoes(_ kind: TestEngine) async throws {
        for tried in Self.cases {
            let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
            let digest = try await Shell.run(["sha256sum"], input: tried.base).prefix(64)
            try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
                let answer = try await gateway.client {
                    try await $0.post(
                        "/v1/push",
                        #"{"edits":[{"resource":"pots","id":\#(tried.id),"changeset":{"pot":{"\#(tried.group)":"#
                            + #"{"oldHash":"sha256:\#(digest)","new":\#(tried.new)}}}}]}"#)
                }
                let json = try answer.json()
                if tried.expected.hasPrefix("edits") {
                    #expect(answer.status == 400, "\(tried) \(answer.text)")
                    #expect(json["code"]?.text == "invalid-value" && json["path"]?.text == tried.expected)
                } else {
                    #expect(answer.status == 200, "\(tried) \(answer.text)")
                    let outcomes = json["results"]?[0]?["outcomes"]?.array.map { $0["outcome"]?.text }
                    #expect(outcomes == (tried.expected == "unchanged" ? [] : [tried.expected]), "\(tried)")
                }
            }
            let held = try await database.run("SELECT made, glaze, fired FROM pots ORDER BY id;")
            let glaze = ["applied", "client-won"].contains(tried.expected) ? "b" : "a"
            #expect(held == "2020-00-10\t\(glaze)\t2020-00-10\n2020-01-10\ta\t2020-01-10\n", "\(tried)")
        }
    }
}
