import MergeCore
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Lines of a tokens file, and their rights.
@Suite struct TokenLineTests {
    private static let hash = "sha256:" + String(repeating: "0a", count: 32)

    private static func bearer(_ line: String) throws -> Bearer? {
        try TokenLine(Substring(line), at: "f:1: ")?.bearer
    }

    @Test("Roles and claims are read")
    func rolesAndClaims() throws {
        let line =
            "  tablet-7\tread,write,operator \(Self.hash) roles=driver,planner claims={\"areas\": [1, 2], \"x\": \"a b\"} "
        let bearer = try #require(try Self.bearer(line))
        #expect(bearer.name == "tablet-7" && bearer.owner == "tablet-7")
        #expect(bearer.rights == [.read, .write, .operate])
        #expect(bearer.roles == [ExactText("driver"), ExactText("planner")])
        #expect(bearer.claims["areas"] == .array([.integer(1), .integer(2)]))
        #expect(bearer.claims["x"] == .text("a b"))
        #expect(bearer.claims["who"] == nil && bearer.expiry == nil)
    }

    @Test("Roles and claims are optional")
    func optional() throws {
        #expect(try Self.bearer("a refresh \(Self.hash)")?.rights == [.refresh])
        #expect(try Self.bearer("a read \(Self.hash) roles=x\r")?.roles == [ExactText("x")])
        #expect(try Self.bearer("a read \(Self.hash) claims={}")?.claims.isEmpty == true)
        #expect(try Self.bearer("# a read \(Self.hash)") == nil)
        #expect(try Self.bearer(" \t") == nil)
    }

    @Test(
        "Each error names its line",
        arguments: [
            ("read \(hash) roles=", "“roles=” is followed"), ("read \(hash) roles=a,,b", "“roles=” is followed"),
            ("read \(hash) roles=a, b", "“roles=” is followed"), ("read \(hash) claims=", "“claims=” is followed"),
            ("read \(hash) claims=[]", "“claims=” is followed"),
            ("read \(hash) claims={\"a\":1,\"a\":2}", "“claims=” is"),
            ("read \(hash) claims={} roles=a", "“claims=” is followed"), ("read \(hash) role=a", "a line is"),
            ("read, \(hash)", "rights are"), ("admin \(hash)", "rights are"), ("read sha256:00", "a line is"),
            ("read \(hash) roles=a nonsense", "a line is"),
        ])
    func errors(_ rest: String, _ fault: String) {
        #expect {
            _ = try Self.bearer("a " + rest)
        } throws: { error in
            "\(error)".hasPrefix("f:1: ") && "\(error)".contains(fault)
        }
    }

    /// The line that is printed is the line that is read.
    @Test("A line is written as it is read")
    func written() throws {
        let line = AccessToken.make().line(
            name: "a", rights: [.operate, .read], roles: ["x", "y"], claims: #"{"area":7}"#)
        let bearer = try #require(try Self.bearer(line))
        #expect(bearer.rights == [.read, .operate] && bearer.roles.count == 2)
        #expect(bearer.claims["area"] == .integer(7))
    }

    @Test("Only operators read the journal")
    func operators() async throws {
        let database = try await JournalTests.database(.sqlite)
        let matrix: [(rights: Set<AccessRight>, roles: [String], look: Int, undo: Int)] = [
            ([.read, .write], [], 403, 403), ([.read, .write, .operate], [], 200, 404), ([.operate], [], 200, 404),
            ([.read, .write], ["operator"], 200, 404), ([.read], ["operator"], 200, 403),
            ([.read, .write], ["Operator"], 403, 403), ([.refresh], [], 401, 401),
            ([.refresh, .operate, .read], ["operator"], 401, 401), ([.read, .operate], [], 200, 403),
            ([.write, .operate], [], 200, 404),
        ]
        let tokens = matrix.map { _ in AccessToken.make() }
        let file = zip(tokens, matrix).enumerated().map { index, pair in
            pair.0.line(name: "t\(index)", rights: pair.1.rights, roles: pair.1.roles)
        }
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: file.joined(separator: "\n"), journal: .together
        ) { gateway async throws in
            for (token, expected) in zip(tokens, matrix) {
                try await gateway.client(token: token.secret) { client async throws in
                    #expect(try await client.get("/v1/journal").status == expected.look, "\(expected)")
                    #expect(try await client.post("/v1/journal/999/undo", "{}").status == expected.undo, "\(expected)")
                }
            }
        }
    }

    /// Only the address for access tokens accepts it.
    @Test("A refresh token permits no access")
    func refreshToken() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let token = AccessToken.make()
        try await RunningGateway.with(
            database, rules: MergeTests.rules, tokens: token.line(name: "a", rights: [.refresh, .read, .write])
        ) { gateway async throws in
            let unknown = try await gateway.client { try await $0.get("/v1/rules") }
            try await gateway.client(token: token.secret) { client async throws in
                for path in [
                    "/v1/rules", "/v1/records/people", "/metrics", "/openapi.json", "/v1/changes", "/v1/token/",
                ] {
                    let answer = try await client.get(path)
                    #expect(answer.status == 401 && answer.body == unknown.body, "\(path)")
                }
                #expect(try await client.post("/v1/merge/people", #"{"id":1,"changeset":{}}"#).status == 401)
            }
        }
    }
}
