import Testing
import TestSupport

/// `fieldmerge rules rehearse` as a rule author runs it, on both engines.
@Suite struct RehearseCommandTests {
    private typealias Said = (status: Int32, output: String, errors: String)

    private static func rules(_ name: String = "client-wins", points: String = "merge: add") -> [String: String] {
        [
            "people.yaml": """
            resource: people
            sections:
              person:
                table: people
                groups:
                  name: {column: name, on-conflict: \(name)}
                  email: email
                  points: {column: points, \(points)}
                  secret: {column: secret, private: true}
            """
        ]
    }

    /// Runs the program while a gateway has the rules of `rules()` and a journal of four entries.
    private static func with(
        _ kind: TestEngine,
        _ body:
            @escaping @Sendable (TestDatabase, @escaping @Sendable ([String: String], [String]) async throws -> Said)
            async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        let active = try TemporaryFolder(files: rules())
        try await RunningGateway.with(database, rules: rules(), journal: .together) { gateway async throws in
            try await gateway.client { client in
                try await database.run("UPDATE people SET name = 'Anne', points = 12 WHERE id = 1;")
                for edit in [
                    #"{"person":{"name":{"old":"Ann","new":"Anna"},"points":{"old":10,"new":15}}}"#,
                    #"{"person":{"email":{"old":"a@x","new":"a@y"}}}"#,
                    #"{"person":{"secret":{"old":"pin","new":"pen"}}}"#,
                ] {
                    #expect(try await client.post("/v1/merge/people", JournalTests.edit(edit)).status == 200)
                }
                #expect(try await client.post("/v1/journal/2/undo", "{}").status == 200)
            }
            try await body(database) { new, options in
                let folder = try TemporaryFolder(files: new)
                let arguments = [CommandLineTests.program, "rules", "rehearse", "--rules", folder.path] + options
                return try await Shell.capture(
                    arguments,
                    environment: [
                        "FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": active.path,
                        "FIELDMERGE_JOURNAL": database.journalURL,
                    ])
            }
        }
    }

    @Test("Differences are counted and explained", arguments: TestEngine.allCases)
    func differences(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, rehearse in
            let said = try await rehearse(Self.rules("reject", points: "on-conflict: server-wins"), [])
            #expect(said.status == 3, "\(said)")
            let lines = said.output.split(separator: "\n").map(String.init)
            let words = lines.map { $0.split(separator: " ").joined(separator: " ") }
            #expect(words.first == "4 entries, 5 outcomes: 2 different, 1 the same, 2 not judged")
            #expect(words.contains("1 people person.name client-won rejected"), "\(said.output)")
            #expect(words.contains("1 people person.points combined server-won"))
            #expect(words.contains("1 people The journal does not contain private values"))
            #expect(words.contains("1 people An undo has policies of its own"))
            #expect(words.contains(#"1 people/1 person.name "Ann" "Anne" "Anna" client-won rejected"#))
            #expect(
                words.contains(
                    "active: Both sides changed it; on-conflict: client-wins writes the client's (people.yaml:6)."))
            #expect(
                words.contains(
                    "new: Both sides changed it; on-conflict: reject refuses the whole push (people.yaml:6)."))
            #expect(lines.allSatisfy { $0.count <= 120 && !$0.hasSuffix(" ") })
            #expect(said.errors.hasPrefix("4 entries in ") && said.errors.hasSuffix(" s\n"), "\(said.errors)")
        }
    }

    @Test("Programs get JSON", arguments: TestEngine.allCases) func json(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, rehearse in
            let said = try await rehearse(Self.rules("server-wins"), ["--json"])
            #expect(said.status == 3, "\(said)")
            let report = try JSON(said.output)
            #expect(report["entries"]?.int == 4 && report["outcomes"]?.int == 5)
            #expect(report["same"]?.int == 2 && report["different"]?.int == 1)
            let difference = report["differences"]?[0]
            #expect(difference?["group"]?.text == "name" && difference?["count"]?.int == 1)
            #expect(difference?["underActive"]?[0]?.text == "client-won")
            #expect(difference?["underNew"]?[0]?.text == "server-won")
            let example = report["examples"]?[0]
            #expect(example?["entry"]?.int == 1 && example?["record"]?.text == "1")
            #expect(example?["old"]?.text == "Ann" && example?["current"]?.text == "Anne")
            #expect(example?["new"]?.text == "Anna")
            #expect(example?["underActive"]?[0]?["written"]?.text == "Anna")
            #expect(example?["underNew"]?[0]?["written"]?.text == "Anne")
            #expect(example?["underNew"]?[0]?["rule"]?.text == "people.yaml:6")
            #expect(report["unjudged"]?.array.count == 2)
        }
    }

    @Test("Equal decisions exit with 0, and filters select entries", arguments: TestEngine.allCases)
    func filters(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, rehearse in
            let same = try await rehearse(Self.rules(), [])
            #expect(same.status == 0, "\(same)")
            #expect(same.output.hasPrefix("4 entries, 5 outcomes: 0 different, 3 the same, 2 not judged\n"))
            let other = Self.rules("reject")
            try await database.runOnJournal("UPDATE entries SET at = '2020-01-02 00:00:00' WHERE n <= 2;")
            for (options, entries, status) in [
                (["--since", "9000d"], 4, Int32(3)), (["--since", "1d"], 2, 0), (["--since", "2999-01-01"], 0, 0),
                (["--since", "2020-01-01T00:00:00Z", "--resource", "people"], 4, 3),
            ] {
                let said = try await rehearse(other, options)
                #expect(said.status == status && said.output.hasPrefix("\(entries) entries, "), "\(options): \(said)")
            }
        }
    }

    @Test("Nothing is written", arguments: TestEngine.allCases) func writesNothing(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, rehearse in
            func state() async throws -> String {
                let rows = try await database.run("SELECT * FROM people; SELECT * FROM items;")
                let journal = try await database.runOnJournal(
                    "SELECT n, at, status, entry FROM entries ORDER BY n; SELECT name, value FROM meta ORDER BY name;")
                return rows + journal
            }
            let before = try await state()
            #expect(try await rehearse(Self.rules("reject"), []).status == 3)
            #expect(try await state() == before)
        }
    }

    @Test("Errors are one sentence", arguments: TestEngine.allCases) func errors(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, rehearse in
            for (rules, options, sentence) in [
                (["people.yaml": "resource: people"], [], "the rules cannot be used"),
                (Self.rules(), ["--resource", "peeple"], "did you mean “people”?"),
                (Self.rules(), ["--since", "soon"], "2026-11-20T10:00:00Z"),
                (Self.rules(), ["--journal", "off"], "--journal off keeps nothing"),
            ] {
                let said = try await rehearse(rules, options)
                #expect(said.status == 1 && said.output.isEmpty, "\(options): \(said)")
                #expect(said.errors.contains(sentence), "\(said.errors)")
                #expect(said.errors.split(separator: "\n").count == 1, "\(said.errors)")
            }
        }
    }
}
