import Foundation
import NIOHTTP1
import Testing
import TestSupport

@testable import Gateway

/// The id that connects a request with its answer and its log lines.
@Suite(.timeLimit(.minutes(1))) struct RequestIDTests {
    @Test(
        "The gateway uses an id of 1 to 128 visible ASCII characters, and makes another if the client sent none",
        arguments: [
            (sent: "a", isUsed: true), (sent: "7f3c-!\"#~", isUsed: true),
            (sent: String(repeating: "x", count: 128), isUsed: true),
            (sent: String(repeating: "x", count: 129), isUsed: false),
            (sent: "", isUsed: false), (sent: "two words", isUsed: false), (sent: "é", isUsed: false),
            (sent: "tab\tin", isUsed: false),
        ])
    func sentID(sent: String, isUsed: Bool) {
        let headers = RequestHeaders(HTTPHeaders([("X-Request-ID", sent)]))
        let (first, second) = (RequestID.of(headers), RequestID.of(headers))
        #expect((first == sent) == isUsed)
        #expect((first == second) == isUsed, "A made id is unique.")
        #expect(!first.isEmpty)
    }

    @Test("An id that is sent twice is not used")
    func repeatedHeader() {
        let headers = RequestHeaders(HTTPHeaders([("X-Request-ID", "a"), ("x-request-id", "b")]))
        #expect(!["a", "b", "a, b"].contains(RequestID.of(headers)))
    }

    @Test("Every answer has the id, and problem documents and log lines repeat it")
    func answers() async throws {
        let database = try await JournalTests.database(.sqlite)
        let log = KeptLog()
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, log: log
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let found = try await client.get("/v1/rules", ["X-Request-ID": "found-1"])
                #expect(found.status == 200 && found.headers["x-request-id"] == "found-1")
                let missing = try await client.get("/v1/records/people/999", ["X-Request-ID": "missing-1"])
                #expect(missing.status == 404 && missing.headers["x-request-id"] == "missing-1")
                #expect(try missing.json()["instance"]?.text == "missing-1")
                let unnamed = try await client.get("/v1/records/people/999")
                let made = try #require(unnamed.headers["x-request-id"])
                #expect(try unnamed.json()["instance"]?.text == made)
                let broken = try await client.post("/v1/push", "{", ["X-Request-ID": "broken-1"])
                #expect(broken.status == 400)
                #expect(try broken.json()["instance"]?.text == "broken-1")
                for id in ["missing-1", "broken-1", made] {
                    #expect(log.lines.contains { $0.contains("id=\(id) ") }, "\(log.lines)")
                }
            }
        }
    }

    @Test("Journal entries contain the id, also those of refused pushes and of an undo", arguments: TestEngine.allCases)
    func entries(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together
        ) { gateway async throws in
            try await gateway.client { client async throws in
                func push(_ id: String, _ edit: String) async throws -> Int {
                    let body = #"{"key": "\#(id)", "edits": [{"resource": "people", \#(edit)}]}"#
                    return try await client.post("/v1/push", body, ["X-Request-ID": id]).status
                }
                let name = #""id": 1, "changeset": {"person": {"name": {"old": "Ann", "new": "Eve"}}}"#
                let state = #""id": 1, "changeset": {"person": {"state": {"old": "x", "new": "y"}}}"#
                let creation = #""changeset": {"person": {"old": null, "new": {"name": "C", "email": "a@x"}}}"#
                #expect(try await push("merged", name) == 200)
                #expect(try await push("rejected", state) == 409)
                #expect(try await push("refused", creation) == 422)
                let undo = try await client.post("/v1/journal/1/undo", "{}", ["X-Request-ID": "undo"])
                #expect(undo.status == 200, "\(undo.text)")
                let listed = try await client.get("/v1/journal").json()["entries"]?.array ?? []
                #expect(listed.map { $0["request"]?.text } == ["merged", "rejected", "undo"], "\(listed)")
                let refused = try await client.get("/v1/journal?refused=true").json()["entries"]?.array ?? []
                #expect(refused.map { $0["request"]?.text } == ["rejected", "refused"], "\(refused)")
                let number = try #require(refused.last?["number"]?.int)
                let whole = try await client.get("/v1/journal/\(number)").json()
                #expect(whole["request"]?.text == "refused")
            }
        }
    }

    @Test("A stored answer is repeated byte for byte, whatever the id of the request")
    func storedAnswers() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let changeset = #"{"person": {"name": {"old": "a", "new": "b"}}}"#
                let push =
                    #"{"key": "k", "edits": [{"resource": "people", "id": 999, "changeset": \#(changeset)}]}"#
                let first = try await client.post("/v1/push", push, ["X-Request-ID": "first"])
                let again = try await client.post("/v1/push", push, ["X-Request-ID": "again"])
                #expect(first.body == again.body)
                #expect(again.headers["x-request-id"] == "again")
            }
        }
    }
}
