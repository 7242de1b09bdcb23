import Testing
import TestSupport

/// Two edits of one push that write the same group: each can be undone alone.
@Suite(.timeLimit(.minutes(5))) struct RepeatedWritesTests {
    private static let sql = """
        CREATE TABLE counters (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, name VARCHAR(20));
        INSERT INTO counters VALUES (1, 5, 'a');
        """
    private static func rules(_ resource: String) -> String {
        "resource: \(resource)\nsections:\n  c: {table: counters, groups: {n: {column: n, merge: add}, name: name}}\n"
    }

    private static func add(_ delta: Int, to resource: String) -> String {
        #"{"resource":"\#(resource)","id":1,"changeset":{"c":{"n":{"old":0,"new":\#(delta)}}}}"#
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let resources: [String]
        let undone: [Int]

        var testDescription: String { "\(resources), undone \(undone)" }
    }

    private static let cases = [["counters", "counters"], ["counters", "others"]].flatMap { resources in
        [[1, 2], [2, 1]].map { Case(resources: resources, undone: $0) }
    }

    @Test("Additions are undone alone, beside an addition of another client", arguments: TestEngine.allCases, cases)
    func additions(_ kind: TestEngine, _ test: Case) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        let rules = ["counters.yaml": Self.rules("counters"), "others.yaml": Self.rules("others")]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edits = zip([7, 1], test.resources).map { Self.add($0, to: $1) }.joined(separator: ",")
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edits)]}"#)
                #expect(answer.status == 200, "\(answer.text)")
                let written = try answer.json()["results"]?.array.map { $0["outcomes"]?[0]?["written"]?.int }
                #expect(written == [13, 13], "the answer has what the database contains in the end: \(answer.text)")
                #expect(
                    try await client.post("/v1/push", #"{"edits":[\#(Self.add(100, to: "counters"))]}"#).status == 200)
                var left = 113
                for entry in test.undone {
                    let undone = try await client.post("/v1/journal/\(entry)/undo", "{}")
                    #expect(undone.status == 200, "\(undone.text)")
                    left -= entry == 1 ? 7 : 1
                    #expect(try await database.run("SELECT n FROM counters;") == "\(left)\n")
                }
            }
        }
    }

    @Test("The journal has the value that each edit wrote itself", arguments: TestEngine.allCases)
    func entries(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(
            database, rules: ["counters.yaml": Self.rules("counters")], journal: .together
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let names = [("a", "b"), ("b", "c")].map { old, new in
                    #"{"resource":"counters","id":1,"changeset":{"c":{"name":{"old":"\#(old)","new":"\#(new)"}}}}"#
                }
                let answer = try await client.post("/v1/push", #"{"edits":[\#(names.joined(separator: ","))]}"#)
                #expect(answer.status == 200, "\(answer.text)")
                let undone = try await client.post("/v1/journal/1/undo", "{}")
                #expect(undone.text.contains("server-won"), "\(undone.text)")
                for entry in [2, 1] {
                    #expect(try await client.post("/v1/journal/\(entry)/undo", "{}").status == 200)
                }
                #expect(try await database.run("SELECT name FROM counters;") == "a\n")
            }
        }
    }
}
