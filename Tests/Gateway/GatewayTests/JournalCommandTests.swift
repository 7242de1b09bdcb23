import Foundation
import Operations
import Testing
import TestSupport

/// `fieldmerge journal …` as an operator runs it, on both engines.
@Suite struct JournalCommandTests {
    private typealias Said = (status: Int32, output: String, errors: String)

    /// The command line with the options of a gateway on the same database.
    private struct JournalCommands: Sendable {
        let database: TestDatabase
        let folder: TemporaryFolder

        init(_ database: TestDatabase) async throws {
            self.database = database
            folder = try TemporaryFolder()
            for (name, text) in JournalTests.rules {
                try await Shell.run(["tee", folder.path + "/" + name], input: text)
            }
        }

        var settings: [String: String] {
            var settings = ["FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path]
            if database.kind == .mariadb { settings["FIELDMERGE_JOURNAL"] = "same-server:fieldmerge_" + database.name }
            return settings
        }

        func journal(_ arguments: String...) async throws -> Said { try await journal(arguments) }

        func journal(_ arguments: [String]) async throws -> Said {
            try await Shell.capture([CommandLineTests.program, "journal"] + arguments, environment: settings)
        }
    }

    private static func with(
        _ kind: TestEngine, tokens: String? = nil,
        _ body: @escaping @Sendable (RunningGateway, JournalCommands) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        let desk = try await JournalCommands(database)
        try await RunningGateway.with(database, rules: JournalTests.rules, tokens: tokens, journal: .together) {
            gateway async throws in
            try await body(gateway, desk)
        }
    }

    @Test(arguments: TestEngine.allCases) func entriesAreShown(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, desk in
            #expect(try await desk.journal("list").output == "no entries\n")
            try await gateway.client { client in
                try await desk.database.run("UPDATE people SET name = 'Anne' WHERE id = 1;")
                _ = try await client.post(
                    "/v1/merge/people",
                    JournalTests.edit(
                        #"{"person":{"name":{"old":"Ann","new":"Anna"}},"items":[{"id":2,"old":{"what":"Tea"},"new":null}]}"#,
                        key: "=1+1"), ["X-Device-ID": "tablet 7"])
                _ = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"points":{"old":20,"new":-5}}}"#, id: 2))
                let list = try await desk.journal("list")
                #expect(list.status == 0 && list.errors.isEmpty, "\(list.errors)")
                let lines = list.output.split(separator: "\n").map(String.init)
                #expect(lines.count == 7, "\(list.output)")
                #expect(lines[0].hasPrefix("number  time") && lines[1].hasPrefix("  group"))
                #expect(lines[2].hasPrefix("1 ") && lines[2].contains("tablet 7") && lines[2].contains("people/1"))
                #expect(lines[3].hasPrefix("  items [2]      deleted"), "\(lines[3])")
                let name = lines[4].split(separator: " ").map(String.init)
                #expect(name == ["person.name", "client-won", #""Ann""#, #""Anne""#, #""Anna""#, #""Anna""#])
                #expect(lines.allSatisfy { $0.count <= 120 })
                let json = try await desk.journal("list", "--json")
                let listed = try await client.get("/v1/journal").json()
                #expect(try JSON(json.output) == listed)
                for (arguments, numbers) in [
                    (["--resource", "people", "--id", "2"], [2]), (["--outcome", "client-won"], [1]),
                    (["--who", "nobody"], []), (["--since", "2000-01-01"], [1, 2]), (["--since", "2999-01-01"], []),
                    (["--after", "1"], [2]), (["--limit", "1"], [2]), (["--after", "0", "--limit", "1"], [1]),
                    (["--refused"], []),
                ] {
                    let found = try await Shell.capture(
                        [CommandLineTests.program, "journal", "list", "--json"] + arguments,
                        environment: desk.settings)
                    let entries = try JSON(found.output)["entries"]?.array ?? []
                    #expect(entries.map { $0["number"]?.int } == numbers, "\(arguments): \(found)")
                }
                #expect(try await desk.journal("list", "--limit", "1").errors.contains("there are older entries"))
                let csv = try await desk.journal("list", "--csv").output.split(separator: "\r\n").map(String.init)
                #expect(csv.count == 4)
                #expect(
                    csv[0].hasPrefix("number,time,who,device,key,resource,record,status,section,item,group,outcome"))
                #expect(csv[1].contains(",tablet 7,'=1+1,people,1,merged,items,2,,deleted,"), "\(csv[1])")
                #expect(csv[2].hasSuffix(#","""Ann""","""Anne""","""Anna""","""Anna""","#), "\(csv[2])")
                #expect(csv[3].hasSuffix(",points,applied,false,default,20,20,-5,-5,"), "\(csv[3])")
                let show = try await desk.journal("show", "1")
                #expect(show.output.contains("key      =1+1\n") && show.output.contains("  overwritten  \"Anne\"\n"))
                let one = try await desk.journal("show", "1", "--json")
                let whole = try await client.get("/v1/journal/1").json()
                #expect(try JSON(one.output) == whole)
            }
        }
    }

    @Test("Each error is one sentence", arguments: TestEngine.allCases)
    func errors(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, desk in
            for (arguments, sentence) in [
                (["show", "9"], "The journal has no entry 9"), (["undo", "9"], "The journal has no entry 9"),
                (["replay", "9"], "The journal has no entry 9"),
                (["list", "--outcome", "aplied"], "is not an outcome"),
                (["list", "--id", "1"], "“id” needs “resource”"),
                (["list", "--since", "soon"], "2026-11-20T10:00:00Z"),
                (["list", "--journal", "off"], "--journal off keeps nothing"),
                (["undo", "1", "--rules", "/nowhere"], "the rules cannot be used"),
            ] {
                let said = try await Shell.capture(
                    [CommandLineTests.program, "journal"] + arguments, environment: desk.settings)
                #expect(said.status == 1 && said.output.isEmpty, "\(arguments): \(said)")
                #expect(said.errors.contains(sentence), "\(arguments): \(said.errors)")
                #expect(said.errors.split(separator: "\n").count == 1, "\(said.errors)")
            }
        }
    }

    @Test("Refused pushes can be sent again", arguments: TestEngine.allCases)
    func resend(_ kind: TestEngine) async throws {
        let token = AccessToken.make()
        try await Self.with(kind, tokens: token.line(name: "tablet-7", rights: [.read, .write])) { gateway, desk in
            try await gateway.client(token: token.secret) { client in
                let rules = try await client.get("/v1/rules").json()["version"]?.text ?? ""
                // Of three edits one is merged. Another creates a row, which must not be created twice.
                let failed = try await client.post(
                    "/v1/push",
                    """
                    {"key":"k","rules":"\(rules)","atomic":"edit","edits":[
                     {"resource":"people","id":1,"changeset":{"person":{"points":{"old":10,"new":15}}}},
                     {"resource":"people","id":2,"changeset":{"person":{"email":{"old":"b@x","new":"a@x"}},
                      "items":[{"id":-1,"old":null,"new":{"what":"Corn"}}]}},
                     {"resource":"people","id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}]}
                    """)
                #expect(failed.status == 207, "\(failed.text)")
                _ = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"email":{"old":"a@x","new":"b@x"}}}"#))
            }
            let refused = try await desk.journal("refused")
            let lines = refused.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            #expect(lines.count == 3, "\(refused.output)\(refused.errors)")
            #expect(lines[1][0] == "1" && lines[1][2...5] == ["tablet-7", "k", "/v1/push", "unique"])
            #expect(lines[2][3...4] == ["/v1/merge/people", "unique"])
            #expect(try JSON(await desk.journal("refused", "--json").output)["entries"]?.array.count == 2)
            // A rule version of long ago is nothing that an operator could change.
            let file = desk.folder.path + "/people.yaml"
            let text = (JournalTests.rules["people.yaml"] ?? "").replacing("name: name", with: "name: {column: name}")
            try await Shell.run(["tee", file], input: text.replacing("what: what", with: "what: {column: what}"))
            let still = try await desk.journal("replay", "1")
            #expect(still.status == 1 && still.output.contains("people/2: failed\n"), "\(still)")
            #expect(still.output.contains("why: "))
            try await desk.database.run("UPDATE people SET email = 'c@x' WHERE id = 1;")
            let preview = try await desk.journal("replay", "1", "--preview")
            #expect(preview.status == 0 && preview.output.contains("nothing was written"), "\(preview)")
            #expect(try await desk.database.run("SELECT email FROM people WHERE id = 2;") == "b@x\n")
            let replayed = try await desk.journal("replay", "1")
            #expect(replayed.status == 0 && replayed.output.contains("people/2: merged\n"), "\(replayed)")
            #expect(!replayed.output.contains("people/1"))
            #expect(try await desk.database.run("SELECT points FROM people ORDER BY id;") == "15\n20\n")
            #expect(try await desk.database.run("SELECT COUNT(*) FROM items WHERE person = 2;") == "2\n")
            let again = try await desk.journal("replay", "1")
            #expect(again.status == 1 && again.output.contains("this was done before"), "\(again)")
            let newest = try await desk.journal("list", "--json", "--limit", "1")
            let entry = try JSON(newest.output)["entries"]?[0]
            #expect(entry?["who"]?.text == "tablet-7" && entry?["key"]?.text == "resend:1")
            #expect(try JSON(await desk.journal("refused", "--json").output)["entries"]?.array.count == 2)
            let nothing = try await desk.journal("replay", "\(entry?["number"]?.int ?? 0)")
            #expect(nothing.status == 1 && nothing.errors.contains("is not a refused push"), "\(nothing)")
            let number = lines[2][0]
            for _ in 1...2 {
                let dropped = try await desk.journal("drop", number, "--as", "ann")
                #expect(dropped.status == 0 && dropped.output.contains("dropped 20"), "\(dropped)")
                #expect(dropped.output.hasSuffix(" by ann\n"))
            }
            #expect(try JSON(await desk.journal("refused", "--json").output)["entries"]?.array.count == 1)
            let late = try await desk.journal("replay", number)
            #expect(late.status == 1 && late.errors.contains("was dropped at 20"), "\(late)")
            #expect(try await desk.journal("erase", "--who", "ann", "--yes").status == 0)
            let shown = try await desk.journal("show", number).output
            #expect(shown.contains("by (erased)") && !shown.contains("by ann"), "\(shown)")
        }
    }

    @Test("Entries can be undone", arguments: TestEngine.allCases)
    func undo(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, desk in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people",
                    JournalTests.edit(
                        #"{"person":{"name":{"old":"Ann","new":"Anna"},"points":{"old":10,"new":15},"email":{"old":"a@x","new":"c@x"},"secret":{"old":"pin","new":"pen"}}}"#
                    ))
                let hidden = try await desk.journal("undo", "1")
                #expect(hidden.status == 1 && hidden.errors.contains("“secret”"), "\(hidden)")
                try await desk.database.run("UPDATE people SET name = 'Annika', points = 115 WHERE id = 1;")
                let groups = ["--group", "person.name", "--group", "person.points"]
                let preview = try await desk.journal(
                    "undo", "1", "--preview", groups[0], groups[1], groups[2], groups[3])
                #expect(preview.status == 0 && preview.output.contains("nothing was written"), "\(preview)")
                #expect(try await desk.database.run("SELECT points FROM people WHERE id = 1;") == "115\n")
                let undo = try await desk.journal(
                    "undo", "1", groups[0], groups[1], groups[2], groups[3], "--as", "Eva Kerr")
                #expect(undo.status == 0 && undo.output.contains("server-won"), "\(undo)")
                #expect(
                    try await desk.database.run("SELECT name, email, points FROM people WHERE id = 1;")
                        == "Annika\tc@x\t110\n")
                let email = try await desk.journal("undo", "1", "--group", "person.email", "--json")
                #expect(try JSON(email.output)["outcomes"]?[0]?["outcome"]?.text == "applied", "\(email)")
                let entries = try await client.get("/v1/journal?after=1").json()["entries"]?.array ?? []
                #expect(entries.map { $0["who"]?.text } == ["Eva Kerr", ProcessInfo.processInfo.userName])
                #expect(entries.allSatisfy { $0["device"]?.text == "command line" })
                // An undo that conflicts is refused. It is stored and can be sent again.
                try await desk.database.run("UPDATE people SET email = 'c@x' WHERE id = 2;")
                let refused = try await desk.journal("undo", "3")
                #expect(refused.status == 1 && refused.output.contains("people/1: failed\n"), "\(refused)")
                let bare = try await client.post("/v1/journal/3/undo", "{}")
                #expect(bare.status == 422)
                for number in 4...5 {
                    let kept = try await client.get("/v1/journal/\(number)").json()
                    #expect(kept["refused"]?["address"]?.text == "/v1/journal/3/undo")
                    #expect(kept["refused"]?["body"] == (try JSON("{}")))
                }
                try await desk.database.run("UPDATE people SET email = 'b@x' WHERE id = 2;")
                let replayed = try await desk.journal("replay", "4")
                #expect(replayed.status == 0, "\(replayed)")
                #expect(try await desk.database.run("SELECT email FROM people WHERE id = 1;") == "c@x\n")
            }
        }
    }

    @Test("A group without its section is an error", arguments: TestEngine.allCases)
    func group(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, desk in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#))
                for (name, hint) in [("name", "did you mean “person.name”?"), ("person.nam", "“person.name”?")] {
                    let said = try await desk.journal("undo", "1", "--group", name)
                    #expect(said.status == 1, "\(said)")
                    #expect(said.errors.contains("“\(name)” is neither SECTION.GROUP"), "\(said.errors)")
                    #expect(said.errors.contains(hint), "\(said.errors)")
                    let answer = try await client.post("/v1/journal/1/undo", #"{"groups":["\#(name)"]}"#)
                    #expect(
                        try answer.status == 400 && answer.json()["code"]?.text == "unknown-group", "\(answer.text)")
                }
                // Groups and sections of the rules that the entry did not touch are no mistake of spelling.
                let untouched = try await desk.journal("undo", "1", "--group", "person.points", "--group", "items")
                #expect(untouched.errors.contains("nothing in the named groups"), "\(untouched)")
                #expect(try await desk.journal("undo", "1", "--group", "person.name").status == 0)
            }
        }
    }

    /// An empty list may be a resource that is misspelled.
    @Test("A misspelled resource is an error")
    func misspelled() async throws {
        try await Self.with(.sqlite) { gateway, desk in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#))
                let said = try await desk.journal("list", "--resource", "poeple")
                #expect(said.status == 0 && said.output == "no entries\n", "\(said)")
                #expect(
                    said.errors.contains("“poeple” is not a resource of the journal's newest entries"), "\(said.errors)"
                )
                #expect(said.errors.contains("did you mean “people”?"), "\(said.errors)")
                #expect(try await desk.journal("list", "--resource", "people", "--after", "9").errors.isEmpty)
            }
        }
    }

    @Test("An unknown group is an error that names the groups") func unknownGroup() async throws {
        try await Self.with(.sqlite) { gateway, desk in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#))
                for name in ["person.nam", "name", "persons"] {
                    for resource in [["--resource", "people"], []] {
                        let said = try await desk.journal(["list", "--group", name] + resource)
                        #expect(said.status == 1 && said.output.isEmpty, "\(said)")
                        #expect(said.errors.contains("no group or section “\(name)”"), "\(said.errors)")
                        #expect(said.errors.contains("person.name, "), "\(said.errors)")
                    }
                }
                // A group of the rules without entries is no mistake.
                let none = try await desk.journal("list", "--group", "person.points")
                #expect(none.status == 0 && none.output == "no entries\n" && none.errors.isEmpty, "\(none)")
                #expect(try await desk.journal("list", "--group", "items").status == 0)
                #expect(try await desk.journal("list", "--group", "person.name").output.contains("Anna"))
                // The journal has groups that the rules no longer have.
                let rules = desk.folder.path + "/people.yaml"
                let text = try String(contentsOfFile: rules, encoding: .utf8)
                try await Shell.run(["tee", rules], input: text.replacing("name: name", with: "called: name"))
                #expect(try await desk.journal("list", "--group", "person.name").output.contains("Anna"))
                let later = try await desk.journal("list", "--group", "person.name", "--after", "1")
                #expect(later.status == 0 && later.output == "no entries\n", "\(later)")
            }
        }
    }

    @Test("A resend that writes nothing fails", arguments: TestEngine.allCases)
    func emptyResend(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, desk in
            try await gateway.client { client in
                let refused = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"email":{"old":"a@x","new":"b@x"}}}"#))
                #expect(refused.status == 422)
                // The row already has the value of the push.
                try await desk.database.run(
                    "UPDATE people SET email = 'z@x' WHERE id = 2; UPDATE people SET email = 'b@x' WHERE id = 1;")
                let preview = try await desk.journal("replay", "1", "--preview")
                #expect(preview.status == 0, "\(preview)")
                let replayed = try await desk.journal("replay", "1")
                #expect(replayed.status == 1 && replayed.output.contains("already"), "\(replayed)")
                #expect(replayed.output.contains("nothing was written: "), "\(replayed)")
            }
        }
    }

    // MARK: Making it

    @Test("init creates the file")
    func initFile() async throws {
        let database = try await JournalTests.database(.sqlite)
        let desk = try await JournalCommands(database)
        let missing = try await desk.journal("list")
        #expect(missing.status == 1 && missing.errors.contains("no journal"), "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: database.name + ".fieldmerge"))
        for _ in 0..<2 {
            let made = try await desk.journal("init")
            #expect(made.status == 0)
            #expect(made.output == "the journal is ready in the file \(database.name).fieldmerge\n")
        }
        #expect(try await desk.journal("list").output == "no entries\n")
    }

    @Test("The gateway's user serves with exactly the rights that init prints", .tags(.mariadb), .needsMariaDB)
    func initGrants() async throws {
        let database = try await JournalTests.database(.mariadb)
        let desk = try await JournalCommands(database.asRoot)
        let poor = try await JournalCommands(database)
        let denied = try await poor.journal("init")
        #expect(denied.status == 1 && denied.errors.contains("the journal cannot be made"), "\(denied)")
        let missing = try await poor.journal("list")
        #expect(
            missing.status == 1 && missing.errors.contains("“fieldmerge journal init” makes the journal"), "\(missing)")
        let account = database.accountSQL
        let made = try await desk.journal("init", "--grant-to", account)
        #expect(made.status == 0, "\(made)")
        #expect(made.output.hasSuffix("`.* TO \(account);\n"), "\(made.output)")
        #expect(try await desk.journal("init", "--grant-to", account).output == made.output)
        try await database.run(made.output)
        #expect(try await poor.journal("init").status == 0)
        let log = desk.folder.path + "/log"
        try Data().write(to: URL(filePath: log))
        let process = Process()
        process.executableURL = URL(filePath: CommandLineTests.program)
        process.arguments = ["serve", "--listen", "127.0.0.1:0"]
        process.environment = ProcessInfo.processInfo.environment.merging(poor.settings) { $1 }
        process.standardError = FileHandle(forWritingAtPath: log)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        try await HTTPClient.with(port: try await CommandLineTests.port(log, process)) { client async throws in
            let merged = try await client.post(
                "/v1/merge/people", JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#, key: "k"))
            #expect(merged.status == 200, "\(merged.text)")
            let ready = try await client.get("/readyz").json()
            #expect(ready["problems"]?.array.isEmpty == true && ready["journal"]?["bytes"] != nil, "\(ready)")
        }
        let undo = try await poor.journal("undo", "1")
        #expect(undo.status == 0, "\(undo)")
    }
}
