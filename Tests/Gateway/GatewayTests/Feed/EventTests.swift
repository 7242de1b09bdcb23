import Testing
import TestSupport

/// Changes for as long as a connection lasts.
@Suite struct EventTests {
    private static let accept = ["Accept": "text/event-stream"]

    private struct Event {
        var name = ""
        var id = ""
        var data = ""

        var json: JSON? { try? JSON(data) }
    }

    /// Reads the next event and skips comments.
    private static func next(_ client: HTTPClient.Session) async throws -> Event? {
        while let piece = try await client.nextPiece() {
            var event = Event()
            for line in piece.split(separator: "\n") {
                if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
                if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
            }
            if !event.name.isEmpty { return event }
        }
        return nil
    }

    @Test(
        "Changes are sent without a further request", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func changes(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await FeedFixture.with(kind, place) { gateway async throws in
            let start = try await gateway.client { try await $0.position() }
            let last = try await gateway.client { events async throws in
                #expect(try await events.open("/v1/changes", Self.accept) == 200)
                let first = try #require(try await Self.next(events))
                #expect(first.name == "changes" && first.id == "\(start.feed):\(start.revision)")
                #expect(first.json?.names == [] && first.json?["more"] == nil)
                _ = try await gateway.client {
                    try await $0.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                }
                let second = try #require(try await Self.next(events))
                #expect(second.json?.names == ["homes/1"])
                #expect(second.json?["changes"]?[0]?["record"]?["home"]?["name"]?.text == "A")
                return second.id
            }
            _ = try await gateway.client { try await $0.push(FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\"")) }
            // The id wins over the address.
            try await gateway.client { events async throws in
                let headers = Self.accept.merging(["Last-Event-ID": last]) { $1 }
                #expect(try await events.open("/v1/changes?since=7000&feed=x", headers) == 200)
                #expect(try await Self.next(events)?.json?.names == ["homes/2"])
            }
            try await gateway.client { events async throws in
                #expect(
                    try await events.open("/v1/changes?since=\(start.revision)&feed=\(start.feed)&limit=1", Self.accept)
                        == 200)
                #expect(try await Self.next(events)?.json?.names == ["homes/1"])
                #expect(try await Self.next(events)?.json?.names == ["homes/2"])
            }
        }
    }

    @Test(
        "A client with an unknown position gets the event resync, and the stream ends",
        arguments: ["/v1/changes?since=99&feed=FEED", "/v1/changes?since=1&feed=other", "/v1/changes?since=0"])
    func goneFeed(_ path: String) async throws {
        try await FeedFixture.with(.sqlite) { gateway async throws in
            let feed = try await gateway.client { try await $0.position() }.feed
            try await gateway.client { events async throws in
                #expect(try await events.open(path.replacing("FEED", with: feed), Self.accept) == 200)
                let event = try #require(try await Self.next(events))
                #expect(event.name == "resync" && event.json?["code"]?.text == "resync")
                #expect(try await Self.next(events)?.name == nil)
            }
        }
    }

    @Test("Events refuse wait, and a revision without its feed")
    func queries() async throws {
        try await FeedFixture.with(.sqlite) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/changes?wait=1", Self.accept).status == 400)
                #expect(try await client.get("/v1/changes?since=1", Self.accept).status == 400)
                let head = try await client.send(.head, "/v1/changes", Self.accept, nil)
                #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
            }
        }
    }
}
