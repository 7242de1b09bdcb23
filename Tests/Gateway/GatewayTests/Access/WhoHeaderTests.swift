import Operations
import Testing
import TestSupport

@testable import Gateway

/// The user in answers, and in requests that were made for one user.
@Suite struct WhoHeaderTests {
    @Test(
        "Values are percent-encoded",
        arguments: [
            ("ann", "ann"), ("tablet-7_a.b~", "tablet-7_a.b~"), ("Zoë", "Zo%C3%AB"), ("a b%", "a%20b%25"),
            ("https://id.example\nann", "https%3A%2F%2Fid.example%0Aann"), ("\u{1}", "%01"), ("", ""),
        ])
    func encoding(_ owner: String, _ value: String) { #expect(WhoHeader.value(of: owner) == value) }

    @Test("An answer names the user of its token")
    func answer() async throws {
        try await Self.with { ann, bob async throws in
            #expect(try await ann.get("/v1/rules").headers["x-who"] == "Zo%C3%AB")
            #expect(try await bob.get("/v1/rules").headers["x-who"] == "bob")
            #expect(try await ann.get("/nowhere").headers["x-who"] == "Zo%C3%AB")
            #expect(try await ann.get("/healthz").headers["x-who"] == nil)
        }
    }

    @Test("A request for another user is refused and writes nothing")
    func otherUser() async throws {
        try await Self.with { ann, bob async throws in
            let push = """
                {"key": "k1", "edits": [{"resource": "people", "id": 1,
                  "changeset": {"person": {"name": {"old": "Ann", "new": "Bob"}}}}]}
                """
            let before = try await ann.get("/v1/records/people/1").text
            let refused = try await bob.post("/v1/push", push, ["X-Who": "Zo%C3%AB"])
            #expect(refused.status == 401 && refused.headers["www-authenticate"] != nil)
            #expect(try refused.json()["code"]?.text == "other-who")
            #expect(refused.headers["x-who"] == nil, "the answer does not name the user of the token")
            #expect(try await ann.get("/v1/records/people/1").text == before)
            #expect(try await ann.get("/v1/records/people/1", ["X-Who": "Zo%C3%AB"]).status == 200)
        }
    }

    /// Runs a gateway with two users.
    ///
    /// The name of one has characters that a header cannot contain.
    private static func with(
        _ body: @escaping @Sendable (_ ann: HTTPClient.Session, _ bob: HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let (ann, bob) = (AccessToken.make(), AccessToken.make())
        let lines = [
            ann.line(name: "Zoë", rights: [.read, .write]), bob.line(name: "bob", rights: [.read, .write]),
        ]
        try await RunningGateway.with(database, rules: MergeTests.rules, tokens: lines.joined(separator: "\n")) {
            gateway async throws in
            try await gateway.client(token: ann.secret) { first async throws in
                try await gateway.client(token: bob.secret) { try await body(first, $0) }
            }
        }
    }
}
