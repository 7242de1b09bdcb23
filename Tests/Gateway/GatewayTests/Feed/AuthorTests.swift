import Testing
import TestSupport

/// `by=true`: a conflict names the push that wrote the current value.
@Suite struct AuthorTests {
    private static func edit(_ old: String, _ new: String) -> String {
        #"{"edits":[\#(FeedFixture.edit("homes", 1, "name", old, new))]}"#
    }

    @Test(
        "A conflict names the push that wrote the group", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func conflict(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await FeedFixture.with(kind, place) { gateway async throws in
            try await gateway.client { client async throws in
                func by(_ body: String, _ path: String = "/v1/push?by=true") async throws -> JSON? {
                    try await client.post(path, body).json()["results"]?[0]?["outcomes"]?[0]?["by"]
                }
                _ = try await client.post("/v1/push", Self.edit("\"a\"", "\"b\""), ["X-Device-ID": "tablet"])
                let first = try await by(Self.edit("\"a\"", "\"c\""))
                #expect(
                    first?["device"]?.text == "tablet" && first?["entry"]?.int == 1 && first?["who"]?.isNull == true)
                #expect(first?["at"]?.text?.hasSuffix("Z") == true)
                #expect(try await by(Self.edit("\"a\"", "\"d\""), "/v1/push?preview=true&by=true")?["entry"]?.int == 2)
                // The author of a change by a program that bypasses the gateway is unknown.
                try await gateway.database.run("UPDATE homes SET name = 'z' WHERE id = 1;")
                #expect(try await by(Self.edit("\"a\"", "\"d\""))?.isNull == true)
                let silent = try await client.post("/v1/push", Self.edit("\"a\"", "\"e\"")).json()
                #expect(silent["results"]?[0]?["outcomes"]?[0]?["conflict"]?.bool == true)
                #expect(silent["results"]?[0]?["outcomes"]?[0]?["by"] == nil)
            }
        }
    }

    /// The row is an item of one record and the root of another.
    @Test("The push is named whatever resource it used", arguments: TestEngine.allCases)
    func otherResource(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                _ = try await client.push(FeedFixture.edit("things", 1, "name", "\"one\"", "\"1\""))
                let deletion =
                    #"{"resource":"things","id":1,"changeset":{"thing":{"old":{"name":"one"},"new":null}}}"#
                let preview = try await client.post("/v1/push?preview=true&by=true", #"{"edits":[\#(deletion)]}"#)
                    .json()
                #expect(preview["results"]?[0]?["outcomes"]?[0]?["by"]?["entry"]?.int == 1)
                let item = #"{"id":1,"changeset":{"things":[{"id":1,"name":{"old":"one","new":"uno"}}]}}"#
                let merged = try await client.post("/v1/merge/homes?by=true", item).json()
                #expect(merged["outcomes"]?[0]?["by"]?["entry"]?.int == 1)
                // The home has written the name since, in an entry of another record than the thing. So no push is named.
                let deleted = try await client.post(
                    "/v1/sync?by=true", #"{"pushes":[{"key":"k","edits":[\#(deletion)]}]}"#
                ).json()
                #expect(deleted["results"]?[0]?["results"]?[0]?["outcomes"]?[0]?["by"]?.isNull == true, "\(deleted)")
            }
        }
    }
}
