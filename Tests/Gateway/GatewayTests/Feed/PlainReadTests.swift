import Testing
import TestSupport

/// A client that reads the latest revision, then records by GET, and then follows the feed misses no foreign change.
@Suite(.timeLimit(.minutes(3))) struct PlainReadTests {
    @Test("A foreign change of a row that was pushed is reported after a GET", arguments: TestEngine.allCases)
    func pushedRow(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                // Tables of a server are scanned all the time, so the test must exclude a pass in between.
                let hold = kind == .mariadb ? try await ScanHold(gateway.database) : nil
                _ = try await client.push(FeedFixture.edit("doors", 1, "name", #""front""#, #""pushed""#))
                _ = try await client.post("/v1/sync", "{}")
                let position = try await client.position()
                let read = try await client.get("/v1/records/doors/1")
                #expect(read.text.contains("pushed"), "\(read.text)")
                try await gateway.database.run("UPDATE doors SET name = 'foreign' WHERE id = 1;")
                try await hold?.end()
                let reported = try await client.changes(after: position, until: ["doors/1"]).changes
                #expect(reported.map(\.name) == ["doors/1"])
                #expect(reported.last?["record"]?["door"]?["name"]?.text == "foreign")
            }
        }
    }

    @Test("A row that was pushed and read by GET is not reported as a foreign change", arguments: TestEngine.allCases)
    func pushedRowOnce(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                _ = try await client.push(FeedFixture.edit("doors", 1, "name", #""front""#, #""pushed""#))
                _ = try await client.post("/v1/sync", "{}")
                let position = try await client.position()
                for path in ["/v1/records/doors/1", "/v1/records/doors"] {
                    #expect(try await client.get(path).status == 200)
                }
                try await gateway.database.run("UPDATE doors SET name = 'foreign' WHERE id = 2;")
                let reported = try await client.changes(after: position, until: ["doors/2"])
                try await gateway.database.run("UPDATE rooms SET name = 'foreign' WHERE id = 2;")
                let more = try await client.changes(after: reported.position, until: ["rooms/2"])
                #expect(reported.changes.map(\.name) == ["doors/2"] && more.changes.map(\.name) == ["rooms/2"])
            }
        }
    }
}
