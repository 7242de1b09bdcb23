import Testing
import TestSupport

/// Headers that control browsers and caches.
@Suite(.timeLimit(.minutes(2))) struct AnswerHeaderTests {
    private static let data = [
        "/v1/rules", "/v1/records/people", "/v1/records/people/1", "/v1/journal", "/v1/journal/1",
    ]

    @Test("Each answer has Cache-Control")
    func cacheControl() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let merged = try await client.post(
                    "/v1/merge/people", #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}"#)
                #expect(merged.status == 200, "\(merged.text)")
                #expect(merged.headers["cache-control"] == "private, no-cache")
                for path in Self.data {
                    let answer = try await client.get(path)
                    #expect(answer.status == 200 && answer.headers["cache-control"] == "private, no-cache", "\(path)")
                    #expect(answer.headers["x-content-type-options"] == "nosniff", "\(path)")
                }
                for path in ["/v1/changes", "/v1/snapshot", "/v1/nowhere", "/v1/records/people/77"] {
                    let answer = try await client.get(path)
                    #expect(answer.headers["cache-control"] == "no-store", "\(path) \(answer.headers)")
                    #expect(answer.headers["x-content-type-options"] == "nosniff", "\(path)")
                }
                #expect(try await client.post("/v1/sync", "{}").headers["cache-control"] == "no-store")
                for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
                    #expect(try await client.get(path).headers["x-content-type-options"] == "nosniff", "\(path)")
                }
            }
        }
    }

    /// The request has the ETag of the stored record, and its answer has the headers again.
    @Test("A record with a known ETag is not sent again")
    func knownRecord() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(database, rules: JournalTests.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let tag = try #require(try await client.get("/v1/records/people/1").headers["etag"])
                let known = try await client.get("/v1/records/people/1", ["If-None-Match": tag])
                #expect(known.status == 304 && known.body.isEmpty)
                #expect(known.headers["cache-control"] == "private, no-cache" && known.headers["etag"] == tag)
            }
        }
    }

    /// Also a refusal before the address is read.
    @Test("Each refusal is a problem")
    func refusals() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            let long = try await gateway.client {
                try await $0.get("/v1/rules/" + String(repeating: "a", count: 100_000))
            }
            #expect(long.status == 400 && long.headers["content-type"] == "application/problem+json", "\(long.headers)")
            #expect(try long.json()["code"]?.text == "malformed-request", "\(long.text)")
            #expect(long.headers["connection"] == "close" && long.headers["x-request-id"] != nil)
            let device = String(repeating: "d", count: 256)
            let sync = try await gateway.client { try await $0.post("/v1/sync", "{}", ["X-Device-ID": device]) }
            #expect(sync.status == 400, "\(sync.text)")
        }
    }
}
