import Gateway
import Testing
import TestSupport

/// Pushes and changes in one request.
@Suite struct SyncTests {
    private static func push(_ key: String, _ edits: String..., more: String = "") -> String {
        #"{"key":"\#(key)"\#(more),"edits":[\#(edits.joined(separator: ","))]}"#
    }

    private static func create(_ resource: String, _ id: String, _ fields: String) -> String {
        let section = String(resource.dropLast())
        return #"{"resource":"\#(resource)","id":"\#(id)","changeset":{"\#(section)":{"old":null,"new":{\#(fields)}}}}"#
    }

    private static func body(_ pushes: [String], _ more: String = "") -> String {
        #"{"pushes":[\#(pushes.joined(separator: ","))]\#(more)}"#
    }

    @Test(
        "The answer contains the changes of its pushes", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func changes(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await FeedFixture.with(kind, place) { gateway async throws in
            try await gateway.client { client async throws in
                let at = try await client.position()
                let pushes = [
                    Self.push("a", FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\"")),
                    Self.push("b", FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\"")),
                ]
                let body = Self.body(pushes, #","since":\#(at.revision),"feed":"\#(at.feed)""#)
                let answer = try await client.post("/v1/sync", body)
                #expect(answer.status == 200, "\(answer.text)")
                let json = try answer.json()
                #expect(json["results"]?.array.compactMap { $0["code"]?.int } == [200, 200])
                #expect(json["results"]?.array.compactMap { $0["key"]?.text } == ["a", "b"])
                #expect(json.names == ["homes/1", "homes/2"] && json["more"]?.bool == false)
                // Sent again, it writes nothing, and answers the same.
                let again = try await client.post("/v1/sync", body).json()
                #expect(again["results"] == json["results"] && again.names == json.names)
                let without = try await client.post("/v1/sync", Self.body([])).json()
                #expect(without["changes"]?.array.isEmpty == true && without["revision"] == json["revision"])
            }
        }
    }

    @Test("Temporary ids name rows of earlier pushes", arguments: TestEngine.allCases)
    func temporaryIDs(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let pushes = [
                    Self.push("1", Self.create("homes", "tmp:h", #""name":"new""#)),
                    Self.push("2", Self.create("things", "tmp:t", #""name":"t","home":"tmp:h""#)),
                    Self.push(
                        "3",
                        #"{"resource":"homes","id":"tmp:h","changeset":{"home":{"name":{"old":"new","new":"newer"}},"things":[{"id":"tmp:t","name":{"old":"t","new":"tt"}}]}}"#
                    ),
                    Self.push("4", FeedFixture.edit("rooms", 1, "home", "3", "\"tmp:h\"")),
                    Self.push("5", Self.create("homes", "tmp:h", #""name":"other""#)),
                ]
                for _ in 0..<2 {
                    let answer = try await client.post("/v1/sync", Self.body(pushes))
                    #expect(answer.status == 200, "\(answer.text)")
                    let results = try answer.json()["results"]
                    #expect(results?[0]?["results"]?[0]?["ids"]?["tmp:h"]?.int == 4)
                    #expect(results?[1]?["results"]?[0]?["record"]?["thing"]?["home"]?.int == 4)
                    #expect(results?[2]?["results"]?[0]?["id"]?.int == 4)
                    #expect(results?[3]?["results"]?[0]?["record"]?["room"]?["home"]?.int == 4)
                    #expect(results?[4]?["results"]?[0]?["ids"]?["tmp:h"]?.int == 5)
                }
                #expect(try await gateway.database.run("SELECT name FROM things WHERE home = 4;") == "tt\n")
                #expect(try await gateway.database.run("SELECT COUNT(*) FROM homes;") == "5\n")
            }
        }
    }

    @Test("A push that needs a refused row is refused too", arguments: TestEngine.allCases)
    func refusedRow(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let pushes = [
                    Self.push("1", Self.create("things", "tmp:t", #""name":"t","home":77"#)),
                    Self.push("2", FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\"")),
                    Self.push(
                        "3",
                        #"{"resource":"things","id":"tmp:t","changeset":{"thing":{"name":{"old":"t","new":"u"}}}}"#,
                        FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\"")),
                    Self.push(
                        "4",
                        #"{"resource":"things","id":"tmp:t","changeset":{"thing":{"name":{"old":"t","new":"u"}}}}"#,
                        FeedFixture.edit("homes", 3, "name", "\"c\"", "\"C\""), more: #","atomic":"edit""#),
                    Self.push("5", Self.create("things", "tmp:x", #""nome":"t""#)),
                    Self.push(
                        "6", #"{"resource":"things","id":"tmp:x","changeset":{"thing":{"name":{"old":"t","new":"u"}}}}"#
                    ),
                ]
                for _ in 0..<2 {
                    let answer = try await client.post("/v1/sync", Self.body(pushes))
                    #expect(answer.status == 207)
                    let results = try answer.json()["results"]
                    #expect(results?.array.compactMap { $0["code"]?.int } == [422, 200, 422, 207, 400, 422])
                    #expect(results?[2]?["results"]?[0]?["problem"]?["code"]?.text == "depends-on-refused")
                    #expect(results?[2]?["results"]?[0]?["problem"]?["retry"]?.bool == false)
                    #expect(results?[2]?["results"]?[1]?["problem"]?["code"]?.text == "rolled-back")
                    #expect(results?[3]?["results"]?[0]?["problem"]?["code"]?.text == "depends-on-refused")
                    #expect(results?[3]?["results"]?[1]?["status"]?.text == "merged")
                    #expect(results?[4]?["results"]?.array.isEmpty == true)
                    #expect(results?[4]?["problem"]?["retry"]?.bool == false)
                    #expect(results?[5]?["problem"]?["code"]?.text == "depends-on-refused")
                }
                #expect(try await gateway.database.run("SELECT name FROM homes ORDER BY id;") == "A\nb\nC\n")
            }
        }
    }

    @Test("A push that cannot run does not delay others", arguments: TestEngine.allCases)
    func failedPush(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\"")
                let pushes = [
                    #"{"edits":[\#(edit)]}"#, #"{"key":"","edits":[]}"#, #"{"key":7,"edits":[]}"#, "7",
                    #"{"key":"x","edits":7}"#, Self.push("r", edit, more: #","rules":"old""#), Self.push("k", edit),
                    Self.push("k", FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\"")),
                    Self.push("l", FeedFixture.edit("homes", 3, "name", "\"c\"", "\"C\"")),
                ]
                let answer = try await client.post("/v1/sync", Self.body(pushes))
                #expect(answer.status == 207)
                let results = try answer.json()["results"]
                #expect(results?.array.compactMap { $0["code"]?.int } == [400, 400, 400, 400, 400, 409, 200, 422, 200])
                #expect(results?[5]?["problem"]?["code"]?.text == "rules-changed")
                #expect(results?[7]?["problem"]?["code"]?.text == "key-reused")
                #expect(results?[7]?["status"]?.text == "failed" && results?[7]?["results"]?.array.isEmpty == true)
                #expect(try await gateway.database.run("SELECT name FROM homes ORDER BY id;") == "A\nb\nC\n")
            }
        }
    }

    @Test("A push that uses the rows of a push under old rules waits for it", arguments: TestEngine.allCases)
    func oldRules(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let pushes = [
                    Self.push("r", Self.create("things", "tmp:x", #""name":"t""#), more: #","rules":"old""#),
                    Self.push(
                        "s", #"{"resource":"things","id":"tmp:x","changeset":{"thing":{"name":{"old":"t","new":"u"}}}}"#
                    ),
                ]
                let results = try await client.post("/v1/sync", Self.body(pushes)).json()["results"]
                #expect(results?.array.compactMap { $0["problem"]?["code"]?.text } == ["rules-changed", "not-run"])
                #expect(results?[1]?["problem"]?["retry"]?.bool == true)
            }
        }
    }

    @Test("No push runs after one that may succeed later", arguments: TestEngine.allCases)
    func retriedPush(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        try await RunningGateway.with(
            database, rules: FeedFixture.rules, journal: .together, configure: { $0.journalBytesPerDay = 1 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let first = Self.push("a", FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                let second = Self.push("b", FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\""))
                let third = Self.push("c", FeedFixture.edit("homes", 3, "name", "\"c\"", "\"C\""))
                #expect(try await client.post("/v1/push", first).status == 200)
                let answer = try await client.post("/v1/sync", Self.body([second, first, third]))
                #expect(answer.status == 207, "\(answer.text)")
                let results = try answer.json()["results"]
                // A stored answer is returned, also after a push that cannot run now.
                #expect(results?.array.compactMap { $0["code"]?.int } == [429, 200, 503])
                #expect(results?[2]?["problem"]?["code"]?.text == "not-run")
                #expect(results?[2]?["problem"]?["retry"]?.bool == true)
            }
        }
    }

    @Test(
        "Only errors of the sync's members refuse all pushes",
        arguments: [
            (#"{"pushes":7}"#, 400), (#"{"nothing":1}"#, 400), (#"{"since":-1}"#, 400), (#"{"since":1}"#, 400),
            (#"{"since":"1","feed":"x"}"#, 400), (#"{"resources":[]}"#, 400), (#"{"resources":["nothing"]}"#, 400),
            (#"{"resources":"homes"}"#, 400), (#"{"limit":1.5}"#, 400), (#"{"feed":7}"#, 400), ("[]", 400), ("", 400),
            ("{}", 200), (#"{"since":1,"feed":"another"}"#, 207), (#"{"since":0}"#, 207),
        ])
    func invalidSync(_ body: String, _ status: Int) async throws {
        try await FeedFixture.with(.sqlite) { gateway async throws in
            let answer = try await gateway.client { try await $0.post("/v1/sync", body) }
            #expect(answer.status == status, "\(answer.text)")
            if status == 207 {
                #expect(try answer.json()["changes"]?.isNull == true)
                #expect(try answer.json()["problem"]?["code"]?.text == "resync")
            }
        }
    }
}
