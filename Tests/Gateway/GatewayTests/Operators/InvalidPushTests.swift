import MergeCore
import MergeService
import RecordStore
import TestSupport
import Testing

@testable import Gateway

/// Pushes with a status of 400, which the journal keeps as a line.
@Suite struct InvalidPushTests {
    private static func refused(_ client: HTTPClient.Session) async throws -> [JSON] {
        try await client.get("/v1/journal?refused=true&limit=1000").json()["entries"]?.array ?? []
    }

    @Test(
        "An invalid push is kept as a line with sender, code, path and length",
        arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func line(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: place, configure: { $0.invalidPushesPerDay = 50 }
        ) { gateway async throws in
            try await gateway.client { client in
                let bodies = [
                    ("/v1/merge/people", JournalTests.edit(#"{"person":{"nmae":{"old":"Ann","new":"Anna"}}}"#)),
                    ("/v1/push", "no JSON"),
                ]
                for (address, body) in bodies {
                    let answer = try await client.post(
                        address, body, ["X-Device-ID": "till 1", "X-Request-ID": "call-1"])
                    #expect(answer.status == 400, "\(answer.text)")
                }
                let push =
                    #"{"key":"k","edits":[{"resource":"people","id":1,"changeset":{"person":{"points":{"old":1,"new":"x"}}}}]}"#
                _ = try await client.post("/v1/sync", #"{"pushes":[\#(push)]}"#)
                let preview = try await client.post("/v1/merge/people?preview=true", bodies[0].1)
                #expect(preview.status == 400)
                let found = try await Self.refused(client)
                #expect(
                    found.map { $0["refused"]?["reason"]?.text } == ["unknown-group", "not-json", "invalid-value"],
                    "\(found)")
                #expect(found.first?["device"]?.text == "till 1" && found.first?["request"]?.text == "call-1")
                let number = found.first?["number"]?.int ?? 0
                let one = try await client.get("/v1/journal/\(number)").json()["refused"]?["body"]
                #expect(one?["invalid"]?.text == "changeset.person.nmae", "\(String(describing: one))")
                #expect(one?["bytes"]?.int == bodies[0].1.utf8.count)
                #expect(try await client.get("/v1/journal").json()["entries"]?.array.isEmpty == true)
            }
        }
    }

    @Test("A client that repeats an invalid push has a limited number of lines")
    func bounded() async throws {
        let database = try await JournalTests.database(.sqlite)
        let most = 5
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, configure: { $0.invalidPushesPerDay = most }
        ) { gateway async throws in
            try await gateway.client { client in
                for _ in 0..<most + 5 { _ = try await client.post("/v1/push", "{") }
                #expect(try await Self.refused(client).count == most)
            }
        }
    }
}
