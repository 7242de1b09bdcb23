import Testing
import TestSupport

/// Every record, and the revision from which changes go on.
@Suite struct SnapshotTests {
    private static func lines(_ answer: HTTPClient.Answer) throws -> [JSON] {
        try answer.text.split(separator: "\n").map { try JSON(String($0)) }
    }

    private static func names(_ lines: [JSON]) -> [String] {
        lines.filter { $0["record"] != nil }.map {
            "\($0["resource"]?.text ?? "")/\($0["id"].map(\.description) ?? "")"
        }
    }

    @Test(
        "A snapshot contains all records, and its changes continue", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func complete(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await FeedFixture.with(kind, place) { gateway async throws in
            try await gateway.client { client async throws in
                try await gateway.database.run("UPDATE homes SET hidden = 1 WHERE id = 2;")
                let answer = try await client.get("/v1/snapshot")
                #expect(answer.headers["content-type"] == "application/x-ndjson")
                let lines = try Self.lines(answer)
                let head = try #require(lines.first?["snapshot"])
                #expect(head["resources"]?.array.compactMap(\.text) == ["doors", "homes", "rooms", "things"])
                #expect(head["records"]?.int == 11)
                #expect(lines.last?["end"]?["records"]?.int == 11)
                #expect(
                    Self.names(lines) == [
                        "doors/1", "doors/2", "homes/1", "homes/3", "rooms/1", "rooms/2", "rooms/3", "things/1",
                        "things/2",
                        "things/3", "things/4",
                    ])
                let record = lines.first { $0["resource"]?.text == "homes" }?["record"]
                #expect(record == (try await client.get("/v1/records/homes/1").json()))
                _ = try await client.push(FeedFixture.edit("rooms", 1, "name", "\"hall\"", "\"Hall\""))
                let at = (head["feed"]?.text ?? "", head["revision"]?.int ?? -1)
                #expect(try await client.changes(after: at).names == ["rooms/1"])
            }
        }
    }

    @Test("An interrupted download continues", arguments: TestEngine.allCases)
    func interrupted(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let values = (100..<2_300).map { "(\($0), 1, 't\($0)')" }.joined(separator: ",")
                try await gateway.database.run("INSERT INTO things VALUES \(values);")
                let whole = try Self.lines(try await client.get("/v1/snapshot?resources=things,doors"))
                let cursors = whole.compactMap { $0["cursor"]?.text }
                #expect(cursors.count >= 3)
                for cursor in cursors {
                    let place = try #require(whole.firstIndex { $0["cursor"]?.text == cursor })
                    let rest = try Self.lines(try await client.get("/v1/snapshot?after=\(cursor)"))
                    #expect(rest.first?["snapshot"]?["feed"] == whole.first?["snapshot"]?["feed"])
                    #expect(rest.first?["snapshot"]?["revision"] == whole.first?["snapshot"]?["revision"])
                    #expect(rest.first?["snapshot"]?["resources"] == whole.first?["snapshot"]?["resources"])
                    #expect(Self.names(rest) == Self.names(Array(whole[place...])))
                    #expect(rest.last?["end"]?["records"]?.int == Self.names(rest).count)
                    let same = try await client.get("/v1/snapshot?after=\(cursor)&resources=doors,things")
                    #expect(same.status == 200)
                    #expect(try await client.get("/v1/snapshot?after=\(cursor)&resources=doors").status == 400)
                }
                var run = 0
                for line in whole {
                    run = line["cursor"] == nil ? run + 1 : 0
                    #expect(run <= 1_001)
                }
            }
        }
    }

    @Test(
        "An invalid query is refused with its member",
        arguments: [
            ("?after=", 400), ("?after=abc", 400), ("?after=%00", 400), ("?resources=", 400),
            ("?resources=nothing", 404),
            ("?limit=1", 400), ("?resources=homes&resources=homes", 400),
        ])
    func invalidQueries(_ query: String, _ status: Int) async throws {
        try await FeedFixture.with(.sqlite) { gateway async throws in
            let answer = try await gateway.client { try await $0.get("/v1/snapshot" + query) }
            #expect(answer.status == status, "\(answer.text)")
        }
    }
}
