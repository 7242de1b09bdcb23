import Operations
import RecordStore
import TestSupport
import Testing

/// `fieldmerge journal erase` while a gateway runs, for each engine and each kind of journal.
@Suite struct ErasureTests {
    /// Two resources on one row, and one whose records are rows of another's list.
    private static let rules =
        JournalTests.rules.merging([
            "contacts.yaml": "resource: contacts\nsections:\n  contact: {table: people, groups: {email: email}}\n",
            "things.yaml": "resource: things\nsections:\n  thing: {table: items, groups: {what: what}}\n",
        ]) { $1 }

    private struct World: Sendable {
        let gateway: RunningGateway
        let database: TestDatabase
        let place: JournalPlace
        let tokens: [String: String]
        let folder: TemporaryFolder

        func push(_ body: String, as name: String, to address: String = "push") async throws -> HTTPClient.Answer {
            try await gateway.client(token: tokens[name]) { client in
                try await client.post("/v1/" + address, body, ["X-Device-ID": "\(name)'s device"])
            }
        }

        func journal(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
            var settings = ["FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path]
            if database.kind == .mariadb {
                settings["FIELDMERGE_JOURNAL"] =
                    place == .ahead ? "sqlite:" + database.journalFile : "same-server:fieldmerge_" + database.name
            }
            return try await Shell.capture([CommandLineTests.program, "journal"] + arguments, environment: settings)
        }

        /// Returns the content of every table of the journal.
        func contents() async throws -> String {
            var all = ""
            if database.kind == .mariadb, place == .together {
                let schema = "fieldmerge_" + database.name
                let columns = try await database.run(
                    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '\(schema)';")
                for line in columns.split(separator: "\n") {
                    let names = line.split(separator: "\t")
                    // Bytes as text of one byte each.
                    all += try await database.run(
                        "SELECT CONVERT(`\(names[1])` USING latin1) FROM `\(schema)`.`\(names[0])`;")
                }
                return all
            }
            let tables = try await file("SELECT name FROM sqlite_master WHERE type = 'table';")
            for table in tables.split(separator: "\n") { all += try await file("SELECT * FROM \"\(table)\";") }
            return all
        }

        private func file(_ sql: String) async throws -> String {
            // Bytes outside of ASCII are omitted.
            try await Shell.run(
                [
                    "bash", "-c", "sqlite3 -cmd '.timeout 5000' \"$0\" | tr -cd '\\11\\12\\40-\\176'",
                    database.journalFile,
                ],
                input: sql)
        }
    }

    private static func with(
        _ kind: TestEngine, _ place: JournalPlace, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        let folder = try TemporaryFolder()
        for (name, text) in rules { try await Shell.run(["tee", folder.path + "/" + name], input: text) }
        let tokens = ["van-3": AccessToken.make(), "office": AccessToken.make()]
        let lines = tokens.map { $1.line(name: $0, rights: [.read, .write, .operate]) }.joined(separator: "\n")
        try await RunningGateway.with(database, rules: rules, tokens: lines, journal: place) { gateway async throws in
            try await body(
                World(
                    gateway: gateway, database: database, place: place, tokens: tokens.mapValues(\.secret),
                    folder: folder))
        }
    }

    private static func edit(_ resource: String, _ id: Int, _ changeset: String) -> String {
        #"{"resource":"\#(resource)","id":\#(id),"changeset":\#(changeset)}"#
    }

    private static func push(_ key: String, _ edits: String...) -> String {
        #"{"key":"\#(key)","edits":[\#(edits.joined(separator: ","))]}"#
    }

    private static let ann = #"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#
    private static let bob = #"{"person":{"name":{"old":"Bob","new":"Bobby"}}}"#
    private static let both = push("both", edit("people", 1, ann), edit("people", 2, bob))
    private static let jam = push("jam", edit("things", 3, #"{"thing":{"what":{"old":"Jam","new":"Honey"}}}"#))

    private static func writeSamples(_ world: World) async throws {
        let email = edit("contacts", 1, #"{"contact":{"email":{"old":"a@x","new":"anna@x"}}}"#)
        let tea = edit("things", 2, #"{"thing":{"what":{"old":"Tea","new":"Annas tea"}}}"#)
        let points = edit("people", 2, #"{"person":{"points":{"old":20,"new":25}}}"#)
        let already = edit("people", 1, #"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#)
        for (body, who) in [
            (both, "van-3"), (push("email", email), "office"), (push("tea", tea), "office"), (jam, "office"),
            (push("already", already, points), "office"),
        ] {
            let answer = try await world.push(body, as: who)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let taken = edit("people", 1, #"{"person":{"email":{"old":"anna@x","new":"b@x"}}}"#)
        let refused = try await world.push(
            push("refused", edit("people", 2, #"{"person":{"points":{"old":25,"new":26}}}"#), taken), as: "van-3")
        #expect(refused.status == 422, "\(refused.text)")
    }

    @Test(
        "The values of a record are erased in all resources, answers and refused pushes, and no others",
        arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func record(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, place) { world in
            try await Self.writeSamples(world)
            let before = try await world.contents()
            for word in ["Anna", "a@x", "anna@x", "Tea", "Bobby", "Honey"] { #expect(before.contains(word), "\(word)") }
            let preview = try await world.journal(["erase", "--resource", "people", "--id", "1"])
            #expect(preview.status == 0 && preview.output.hasSuffix("--yes erases\n"), "\(preview)")
            #expect(preview.output.contains("4      entries"), "\(preview.output)")
            #expect(preview.output.contains("5      stored answers"), "\(preview.output)")
            #expect(preview.output.contains("1      refused pushes"), "\(preview.output)")
            #expect(try await world.contents().contains("Anna"))

            let erased = try await world.journal(["erase", "--resource", "people", "--id", "1", "--yes", "--as", "Eva"])
            #expect(erased.status == 0 && erased.output.hasSuffix("erased\n"), "\(erased)")
            let after = try await world.contents()
            for word in ["Anna", "a@x", "anna@x", "Tea"] { #expect(!after.contains(word), "\(word)") }
            for word in ["Bobby", "Honey"] { #expect(after.contains(word), "\(word)") }
            let again = try await world.journal(["erase", "--resource", "contacts", "--id", "1", "--yes"])
            #expect(
                again.output.contains("0      entries") && again.output.contains("0      stored answers"), "\(again)")

            let list = try await world.journal(["list", "--resource", "people", "--id", "1", "--json"])
            let entries = try JSON(list.output)["entries"]?.array ?? []
            #expect(entries.count == 2 && entries.allSatisfy { $0["erased"]?["by"]?.text == "Eva" }, "\(list)")
            #expect(entries.first?["outcomes"]?[0]?["group"]?.text == "name")
            let show = try await world.journal(["show", "1"])
            #expect(show.output.contains("status  merged, erased") && show.output.contains("by Eva"), "\(show)")
        }
    }

    @Test(
        "A push with an erased answer does not run again, and other entries can still be undone",
        arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func repeated(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, place) { world in
            try await Self.writeSamples(world)
            let jam = try await world.push(Self.jam, as: "office")
            _ = try await world.journal(["erase", "--resource", "people", "--id", "1", "--yes"])
            try await world.database.run("UPDATE people SET name = 'Ann' WHERE id = 1;")
            let again = try await world.push(Self.both, as: "van-3")
            #expect(again.status == 409, "\(again.text)")
            #expect(try again.json()["results"]?[0]?["problem"]?["code"]?.text == "key-expired", "\(again.text)")
            #expect(try again.json()["results"]?[1]?["id"]?.int == 2)
            #expect(try await world.database.run("SELECT name FROM people WHERE id = 1;") == "Ann\n")
            #expect(try await world.push(Self.jam, as: "office").body == jam.body)
            let other = try await world.push(Self.push("both", Self.edit("people", 1, Self.ann)), as: "van-3")
            #expect(try other.json()["code"]?.text == "key-reused", "\(other.text)")

            let undo = try await world.push("{}", as: "office", to: "journal/1/undo")
            #expect(try undo.json()["code"]?.text == "private", "\(undo.text)")
            let bob = try await world.push("{}", as: "office", to: "journal/2/undo")
            #expect(bob.status == 200, "\(bob.text)")
            let refused = try await world.journal(["refused", "--json"])
            let number = try JSON(refused.output)["entries"]?[0]?["number"]?.int ?? 0
            let replay = try await world.journal(["replay", String(number)])
            #expect(replay.status == 1 && replay.errors.contains("were erased at"), "\(replay)")
        }
    }

    @Test(
        "A sender is erased from its entries, from other entries that name it, and from the feed",
        arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func sender(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, place) { world in
            try await Self.writeSamples(world)
            let named = Self.push(
                "named", Self.edit("people", 2, #"{"person":{"name":{"old":"Bobby","new":"van-3"}}}"#))
            #expect(try await world.push(named, as: "office").status == 200)
            let erased = try await world.journal(["erase", "--who", "van-3", "--yes"])
            #expect(erased.status == 0, "\(erased)")
            let after = try await world.contents()
            #expect(!after.contains("van-3"))
            for word in ["Honey", "office"] { #expect(after.contains(word), "\(word)") }
            #expect(try await world.journal(["list", "--who", "van-3"]).output == "no entries\n")
            let again = try await world.push(Self.both, as: "van-3")
            #expect(again.status == 409 && again.text.contains("key-expired"), "\(again.text)")
            // The other sender wrote this name into the database, so it remains.
            #expect(try await world.database.run("SELECT name FROM people WHERE id = 2;") == "van-3\n")
        }
    }

    @Test(
        "The values of a sender are erased in undos and edited resends of other senders, too",
        arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func operators(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await Self.with(kind, place) { world in
            try await Self.writeSamples(world)
            let before = try await world.push(
                Self.push("own", Self.edit("people", 2, #"{"person":{"name":{"old":"Bobby","new":"Zoe"}}}"#)),
                as: "van-3")
            #expect(before.status == 200, "\(before.text)")
            let list = try await world.journal(["list", "--resource", "people", "--id", "2", "--json"])
            let number = try #require(try JSON(list.output)["entries"]?.array.last?["number"]?.int)
            let undo = try await world.push("{}", as: "office", to: "journal/\(number)/undo")
            #expect(undo.status == 200, "\(undo.text)")
            let refused =
                try JSON(await world.journal(["refused", "--json"]).output)["entries"]?[0]?["number"]?.int ?? 0
            let edited =
                #"{"body":{"edits":[\#(Self.edit("people", 2, #"{"person":{"name":{"old":"Bobby","new":"Yves"}}}"#))]}}"#
            let resent = try await world.push(edited, as: "office", to: "journal/\(refused)/resend")
            #expect(resent.status == 200, "\(resent.text)")
            #expect(try await world.contents().contains("Zoe"))
            for round in 1...2 {
                let erased = try await world.journal(["erase", "--who", "van-3", "--yes"])
                #expect(erased.status == 0, "\(erased)")
                if round == 2 { #expect(erased.output.contains("0      stored answers"), "\(erased)") }
            }
            let after = try await world.contents()
            for word in ["Zoe", "Yves"] { #expect(!after.contains(word), "\(word)") }
            #expect(after.contains("Honey") && after.contains("office"))
        }
    }

    @Test("Wrong options of an erasure are errors")
    func wrongOptions() async throws {
        try await Self.with(.sqlite, .together) { world in
            for (arguments, sentence) in [
                (["erase"], "Give --who, or --resource and --id"),
                (["erase", "--who", "a", "--resource", "people", "--id", "1"], "Give --who, or --resource and --id"),
                (["erase", "--resource", "people"], "Give --who, or --resource and --id"),
                (["erase", "--resource", "peple", "--id", "1"], "did you mean “people”"),
                (["erase", "--who", "(erased)"], "is not the name of a sender"),
            ] {
                let said = try await world.journal(arguments)
                #expect(said.status != 0 && said.errors.contains(sentence), "\(arguments): \(said)")
            }
        }
    }
}
