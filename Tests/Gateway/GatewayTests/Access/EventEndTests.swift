import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// An event stream ends with its token.
@Suite(.timeLimit(.minutes(3))) struct EventEndTests {
    private static let accept = ["Accept": "text/event-stream"]

    private static func with(
        _ verifier: any TokenVerifier, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            .sqlite, mariadb: "", sqlite: FeedFixture.sql(.sqlite))
        try await RunningGateway.with(
            database, rules: FeedFixture.rules, journal: .together, verifier: verifier, body)
    }

    /// Returns the names of all events up to the end of the stream.
    private static func names(_ events: HTTPClient.Session) async throws -> [String] {
        var text = ""
        while let piece = try await events.nextPiece() { text += piece }
        #expect(!text.contains("event: end") || text.hasSuffix("event: end\ndata: {}\n\n"), "\(text)")
        return text.split(separator: "\n").filter { $0.hasPrefix("event: ") }.map { String($0.dropFirst(7)) }
    }

    /// Later changes are not sent.
    @Test("A withdrawn token ends its stream")
    func withdrawn() async throws {
        let (lost, kept) = (AccessToken.make(), AccessToken.make())
        let lines = [lost.line(name: "lost", rights: [.read]), kept.line(name: "kept", rights: [.read, .write])]
        let file = KnownTokens(try TokenFile(text: lines.joined(separator: "\n"), path: "f"))
        try await Self.with(file) { gateway async throws in
            try await gateway.client(token: lost.secret) { events async throws in
                #expect(try await events.open("/v1/changes", Self.accept) == 200)
                #expect(try await events.nextPiece()?.contains("event: changes") == true)
                _ = file.serve(try TokenFile(text: lines[1], path: "f"))
                _ = try await gateway.client(token: kept.secret) {
                    try await $0.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                }
                #expect(try await Self.names(events) == ["end"])
            }
        }
    }

    @Test("An expired token ends its stream")
    func expired() async throws {
        let signer = TestSigner.es256("k")
        let folder = try TemporaryFolder(files: ["keys.json": TestSigner.set([try signer.jwk()])])
        var settings = JWTSettings(issuer: TestSigner.issuer, audience: TestSigner.audience)
        settings.keys = folder.path + "/keys.json"
        let access = try await JWTAccess(settings, logger: JWTTests.quiet)
        try await Self.with(AccessVerifier(file: nil, jwt: access)) { gateway async throws in
            let end = Date().timeIntervalSince1970 + 2
            let token = try signer.token(TestSigner.claims(["exp": "\(end)"]))
            try await gateway.client(token: token) { events async throws in
                #expect(try await events.open("/v1/changes", Self.accept) == 200)
                #expect(try await Self.names(events) == ["changes", "end"])
                let late = Date().timeIntervalSince1970 - end
                #expect(late >= 0 && late < 5, "\(late)")
                // The connection remains usable.
                #expect(try await events.get("/v1/rules").status == 401)
            }
        }
    }

    @Test("A waiting request ends when its token expires")
    func waiting() async throws {
        let signer = TestSigner.es256("k")
        let folder = try TemporaryFolder(files: ["keys.json": TestSigner.set([try signer.jwk()])])
        var settings = JWTSettings(issuer: TestSigner.issuer, audience: TestSigner.audience)
        settings.keys = folder.path + "/keys.json"
        let access = try await JWTAccess(settings, logger: JWTTests.quiet)
        try await Self.with(AccessVerifier(file: nil, jwt: access)) { gateway async throws in
            let end = Date().timeIntervalSince1970 + 2
            let token = try signer.token(TestSigner.claims(["exp": "\(end)"]))
            try await gateway.client(token: token) { client async throws in
                let start = try await client.get("/v1/changes").json()
                let answer = try await client.get(
                    "/v1/changes?since=\(start["revision"]?.int ?? 0)&feed=\(start["feed"]?.text ?? "")&wait=40")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer.json()["changes"]?.array.isEmpty == true)
                let late = Date().timeIntervalSince1970 - end
                #expect(late >= 0 && late < 20, "\(late)")
                #expect(try await client.get("/v1/changes").status == 401)
            }
        }
    }
}
