import Testing
import TestSupport

/// The answers of `GET /v1/changes`.
@Suite struct ChangesTests {
    private static let places: [JournalPlace] = [.together, .ahead]

    @Test("A page has each changed record once, with its current values", arguments: TestEngine.allCases, places)
    func page(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await FeedFixture.with(kind, place) { gateway async throws in
            try await gateway.client { client async throws in
                let start = try await client.position()
                #expect(try await client.changes(after: start).names == [])
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                _ = try await client.push(FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\""))
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"A\"", "\"AA\""))
                let page = try await client.changes(after: start)
                #expect(page.names == ["homes/2", "homes/1"])
                #expect(page["changes"]?[1]?["record"]?["home"]?["name"]?.text == "AA")
                #expect(page["changes"]?[1]?["by"]?["who"]?.isNull == true)
                #expect(page["changes"]?[1]?["by"]?["entry"]?.int == 3)
                #expect(page["more"]?.bool == false)
                let revisions = page["changes"]?.array.compactMap { $0["revision"]?.int } ?? []
                #expect(revisions == revisions.sorted() && (revisions.first ?? 0) > start.revision)
                #expect(page["revision"]?.int ?? 0 >= revisions.last ?? .max)
                let end = (start.feed, page["revision"]?.int ?? 0)
                #expect(try await client.changes(after: end).names == [])
            }
        }
    }

    @Test("A push that changes nothing is not reported", arguments: TestEngine.allCases)
    func unchanged(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let start = try await client.position()
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"x\"", "\"a\""))
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"a\""))
                let refused = try await client.post(
                    "/v1/push", #"{"edits":[\#(FeedFixture.edit("things", 1, "home", "1", "77"))]}"#)
                #expect(refused.status == 422)
                let preview = try await client.post(
                    "/v1/push?preview=true", #"{"edits":[\#(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"z\""))]}"#)
                #expect(preview.status == 200)
                let half = try await client.push(
                    FeedFixture.edit("things", 1, "home", "1", "77"),
                    FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\""),
                    atomic: "edit")
                #expect(half["status"]?.text == "partial")
                #expect(try await client.changes(after: start).names == ["homes/2"])
            }
        }
    }

    @Test("Deleted and hidden records are null", arguments: TestEngine.allCases)
    func missing(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let start = try await client.position()
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                try await gateway.database.run("UPDATE homes SET hidden = 1 WHERE id = 1;")
                _ = try await client.push(
                    #"{"resource":"things","id":4,"changeset":{"thing":{"old":{"name":"four","home":null},"new":null}}}"#
                )
                let page = try await client.changes(after: start)
                #expect(page.names == ["homes/1", "things/4"])
                #expect(page["changes"]?.array.allSatisfy { $0["record"]?.isNull == true } == true)
            }
        }
    }

    // MARK: Rows that several records show

    @Test(
        "A row that moves changes both records, and its record in another resource", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func movedRow(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await FeedFixture.with(kind, place) { gateway async throws in
            try await gateway.client { client async throws in
                var at = try await client.position()
                _ = try await client.push(FeedFixture.edit("things", 1, "home", "1", "2"))
                let moved = try await client.changes(after: at)
                #expect(Set(moved.names) == ["things/1", "homes/1", "homes/2"])
                at.revision = moved["revision"]?.int ?? 0
                _ = try await client.push(
                    #"{"resource":"homes","id":2,"changeset":{"things":[{"id":3,"name":{"old":"three","new":"3"}}]}}"#)
                let edited = try await client.changes(after: at)
                #expect(Set(edited.names) == ["things/3", "homes/2"])
                at.revision = edited["revision"]?.int ?? 0
                _ = try await client.push(
                    #"{"resource":"homes","id":3,"changeset":{"things":[{"id":-1,"old":null,"new":{"name":"new"}}]}}"#)
                let made = try await client.changes(after: at)
                #expect(Set(made.names) == ["things/5", "homes/3"])
                at.revision = made["revision"]?.int ?? 0
                _ = try await client.push(
                    #"{"resource":"things","id":5,"changeset":{"thing":{"old":{"name":"new","home":3},"new":null}}}"#)
                #expect(Set(try await client.changes(after: at).names) == ["things/5", "homes/3"])
            }
        }
    }

    @Test("Rows that a cascade deletes are reported, and reported again after an undo", arguments: TestEngine.allCases)
    func cascades(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                var at = try await client.position()
                _ = try await client.push(
                    #"{"resource":"homes","id":3,"changeset":{"home":{"old":{"name":"c"},"new":null}}}"#)
                let gone = try await client.changes(after: at)
                #expect(Set(gone.names) == ["homes/3", "rooms/1", "rooms/2", "doors/1"])
                at.revision = gone["revision"]?.int ?? 0
                let undone = try await client.send(
                    .post, "/v1/journal/1/undo", ["Content-Type": "application/json"], Array("{}".utf8))
                #expect(undone.status == 200, "\(undone.text)")
                let back = try await client.changes(after: at)
                #expect(Set(back.names) == ["homes/3", "rooms/1", "rooms/2", "doors/1"])
                #expect(back["changes"]?.array.allSatisfy { $0["record"]?.isNull == false } == true)
            }
        }
    }

    /// The undo uses a resource with other rules over the same table.
    @Test("An undo is reported for each record that contains the row", arguments: TestEngine.allCases)
    func undo(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                _ = try await client.push(FeedFixture.edit("things", 1, "name", #""one""#, #""1""#))
                _ = try await client.push(FeedFixture.edit("things", 1, "home", "1", "2"))
                for (entry, names) in [(2, ["things/1", "homes/1", "homes/2"]), (1, ["things/1", "homes/1"])] {
                    let at = try await client.position()
                    let undone = try await client.send(
                        .post, "/v1/journal/\(entry)/undo", ["Content-Type": "application/json"], Array("{}".utf8))
                    #expect(undone.text.contains(#""outcome":"applied""#), "\(undone.text)")
                    #expect(Set(try await client.changes(after: at).names) == Set(names), "\(entry)")
                }
            }
        }
    }

    // MARK: Pages

    @Test("The next page continues after the last one", arguments: TestEngine.allCases)
    func pages(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let start = try await client.position()
                for id in 1...4 {
                    _ = try await client.push(FeedFixture.edit("things", id, "name", "null", "\"n\(id)\""))
                }
                _ = try await client.changes(after: start)
                var names: [String] = []
                var at = start
                var hasMore = true
                while hasMore {
                    let page = try await client.changes(after: at, "&limit=2")
                    #expect(page.names.count <= 2)
                    #expect(page["revision"]?.int ?? 0 > at.revision)
                    names += page.names
                    at.revision = page["revision"]?.int ?? 0
                    hasMore = page["more"]?.bool ?? false
                }
                #expect(names.filter { $0.hasPrefix("things") } == ["things/1", "things/2", "things/3", "things/4"])
                #expect(Set(names).count == names.count)
                let things = try await client.changes(after: start, "&resources=rooms,things")
                #expect(things.names == ["things/1", "things/2", "things/3", "things/4"])
                let none = try await client.changes(after: start, "&resources=doors")
                #expect(none.names == [] && none["revision"] == things["revision"])
            }
        }
    }

    // MARK: Errors of a request

    @Test(
        "An invalid query is refused with its member",
        arguments: [
            ("?since=abc", 400), ("?since=-1", 400), ("?since=%2B1", 400), ("?since=", 400), ("?since=1", 400),
            ("?since=1&since=1", 400), ("?wait=x", 400), ("?limit=-1", 400), ("?limit=1.5", 400), ("?resources=", 400),
            ("?resources=nothing", 404), ("?resources=homes,nothing", 404), ("?resources=homes,", 404),
            ("?since=0", 410),
            ("?other=1", 400), ("?since=99999999999999999999&feed=FEED", 410), ("?since=2&feed=another", 410),
            ("?since=1&feed=FEED&limit=99999999999999999999", 200), ("?since=1&feed=FEED&limit=0", 200),
        ])
    func invalidQueries(_ query: String, _ status: Int) async throws {
        try await FeedFixture.with(.sqlite) { gateway async throws in
            try await gateway.client { client async throws in
                let feed = try await client.position().feed
                let answer = try await client.get("/v1/changes" + query.replacing("FEED", with: feed))
                #expect(answer.status == status, "\(answer.text)")
                if status == 410 {
                    #expect(try answer.json()["code"]?.text == "resync")
                    #expect(try answer.json()["feed"]?.text == feed)
                    #expect(try answer.json()["earliest"]?.int == 1)
                }
            }
        }
    }

    @Test("Without a journal there is no feed", arguments: TestEngine.allCases)
    func noJournal(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind, nil) { gateway async throws in
            try await gateway.client { client async throws in
                for path in ["/v1/changes", "/v1/changes?since=1&feed=x", "/v1/snapshot"] {
                    let answer = try await client.get(path)
                    #expect(answer.status == 404)
                    #expect(try answer.json()["code"]?.text == "no-feed")
                }
                let sync = try await client.post(
                    "/v1/sync",
                    #"{"pushes":[{"key":"k","edits":[\#(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))]}]}"#)
                #expect(sync.status == 207)
                let body = try sync.json()
                #expect(body["results"]?[0]?["code"]?.int == 200)
                #expect(body["results"]?[0]?["key"]?.text == "k")
                #expect(body["changes"]?.isNull == true)
                #expect(body["problem"]?["code"]?.text == "no-feed")
            }
        }
    }

    // MARK: Waiting

    @Test("A waiting request is answered when something changes", arguments: TestEngine.allCases)
    func waiting(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            let start = try await gateway.client { try await $0.position() }
            async let waiting = gateway.client { client async throws in
                try await client.get("/v1/changes?since=\(start.revision)&feed=\(start.feed)&wait=30").json()
            }
            try await gateway.client { client async throws in
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                // Without a change the answer waits for the requested time.
                let at = try await client.changes(after: start)["revision"]?.int ?? 0
                let quiet = try await client.get("/v1/changes?since=\(at)&feed=\(start.feed)&wait=1").json()
                #expect(quiet.names == [] && quiet["revision"]?.int == at)
            }
            #expect(try await waiting.names == ["homes/1"])
        }
    }

    @Test("Another gateway reports the change too", arguments: TestEngine.allCases)
    func otherGateway(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        try await RunningGateway.withTwo(database, rules: FeedFixture.rules) { first, second async throws in
            let start = try await first.client { try await $0.position() }
            async let waiting = second.client { client async throws in
                try await client.get("/v1/changes?since=\(start.revision)&feed=\(start.feed)&wait=30").json()
            }
            _ = try await first.client { try await $0.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\"")) }
            #expect(try await waiting.names == ["homes/1"])
        }
    }
}
