import Testing
import TestSupport

/// Rows that a condition hides look exactly like rows that do not exist.
@Suite(.timeLimit(.minutes(5))) struct AccessHidingTests {
    /// Ann reads the areas 1 and 2.
    ///
    /// Stop 3 exists, stop 99 does not.
    private static let requests: [(path: String, body: String?)] = [
        ("/v1/records/stops/ID", nil),
        ("/v1/merge/stops", #"{"id": ID, "changeset": {"stop": {"title": {"old": "Three", "new": "x"}}}}"#),
        ("/v1/merge/stops", #"{"id": ID, "changeset": {"stop": {"title": {"old": "x", "new": "x"}}}}"#),
        ("/v1/merge/stops?preview=true", #"{"id": ID, "changeset": {"stop": {"price": {"old": 1, "new": 3}}}}"#),
        ("/v1/merge/stops?by=true", #"{"id": ID, "changeset": {"stop": {"area": {"old": 3, "new": 1}}}}"#),
        (
            "/v1/push",
            #"{"edits": [{"resource": "stops", "id": ID, "changeset": {"stop": {"title": {"old": "a", "new": "b"}}}}]}"#
        ),
        (
            "/v1/push",
            #"{"atomic": "edit", "edits": [{"resource": "stops", "id": ID, "changeset": {"stop": {"status": {"old": "#
                + #""a", "new": "b"}}}}, {"resource": "stops", "id": 1, "changeset": {}}]}"#
        ),
        ("/v1/merge/stops", #"{"id": 1, "changeset": {"stop": {"depot": {"old": 1, "new": ID}}}}"#),
        (
            "/v1/sync",
            #"{"pushes": [{"key": "kID", "edits": [{"resource": "stops", "id": ID, "changeset": {"stop": {"title": "#
                + #"{"old": "a", "new": "b"}}}}]}]}"#
        ),
    ]

    @Test("Hidden and missing records have equal answers", arguments: TestEngine.allCases, Array(requests.indices))
    func equalAnswers(_ kind: TestEngine, _ number: Int) async throws {
        let request = Self.requests[number]
        try await Rounds.with(kind) { gateway in
            func answer(_ id: Int) async throws -> (Int, String, [String: String]) {
                let path = request.path.replacing("ID", with: "\(id)")
                let answer =
                    if let body = request.body {
                        try await gateway.post(path, body.replacing("ID", with: "\(id)"), as: Rounds.ann)
                    } else { try await gateway.get(path, as: Rounds.ann) }
                let text = answer.text.replacing(#""id":\#(id)"#, with: "ID").replacing("k\(id)", with: "KEY")
                var headers = answer.headers
                for name in ["date", "x-request-id", "content-length"] { headers[name] = nil }
                return (answer.status, text, headers)
            }
            let (hidden, missing) = (try await answer(3), try await answer(99))
            #expect(hidden.0 == missing.0 && hidden.1 == missing.1 && hidden.2 == missing.2, "\(hidden)\n\(missing)")
            let standing = try await gateway.get("/v1/records/stops/3", as: Rounds.boss).json()
            #expect(standing["stop"]?["title"]?.text == "Three" && standing["stop"]?["area"]?.int == 3)
        }
    }

    /// The outcome of a deletion is `already` for a missing row, and also for a hidden one.
    @Test("A deletion of a hidden row changes nothing", arguments: TestEngine.allCases)
    func deletion(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let answer = try await gateway.merge(
                "2", #"{"stop": {"old": {"title": "Two"}, "new": null}}"#, as: Rounds.kim)
            #expect(answer.status == 200 && answer.text.contains(#""outcome":"already""#), "\(answer.text)")
            #expect(try await gateway.get("/v1/records/stops/2", as: Rounds.boss).status == 200)
        }
    }

    /// A key or a unique value of a hidden row collides, and the answer does not name the row.
    @Test("A collision with a hidden row does not name it", arguments: TestEngine.allCases)
    func collisions(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let key = try await gateway.merge(
                "2", #"{"stop": {"old": null, "new": {"title": "mine"}}}"#, as: Rounds.kim)
            #expect(key.status == 422 && key.text.contains(#""code":"unique""#), "\(key.text)")
            #expect(!key.text.contains("Two") && !key.text.contains("\"record\":{"))
            let code = try await gateway.merge(
                #""tmp:a""#, #"{"stop": {"old": null, "new": {"code": "C2"}}}"#, as: Rounds.kim)
            #expect(code.status == 422 && code.text.contains(#""fields":["code"]"#), "\(code.text)")
            #expect(!code.text.contains(#""resource":"stops","id":2"#))
            let own = try await gateway.merge(
                #""tmp:a""#, #"{"stop": {"old": null, "new": {"code": "C1"}}}"#, as: Rounds.kim)
            #expect(own.text.contains(#""record":{"resource":"stops","id":1}"#), "\(own.text)")
        }
    }
}
