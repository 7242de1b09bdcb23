import Foundation
import MergeCore
import Operations
import Synchronization
import Testing
import TestSupport

@testable import Gateway

/// Refresh tokens and the access tokens that they fetch.
@Suite(.timeLimit(.minutes(3))) struct RefreshTests {
    private static func issuer(
        _ file: KnownTokens, key: String? = nil, now: @escaping JWTVerifier.Clock = { Date().timeIntervalSince1970 }
    ) async throws -> AccessTokens {
        try await AccessTokens(keys: key.map { .file($0) } ?? .process, file: file, lifetime: 900, now: now)
    }

    private static func file(_ lines: [String]) throws -> KnownTokens {
        KnownTokens(try TokenFile(text: lines.joined(separator: "\n"), path: "f", mayBeEmpty: true))
    }

    /// Returns the bearer as a request finds it: of a token that was verified before, or is now.
    private static func bearer(_ tokens: AccessTokens, _ token: String) throws(TokenRefusal) -> Bearer? {
        let mark = TokenMark(token)
        if let known = try tokens.verified(mark) { return known }
        return try tokens.bearer(of: token, mark)
    }

    private static func refusal(_ tokens: AccessTokens, _ token: String) -> TokenRefusal? {
        do {
            return try bearer(tokens, token) == nil ? .unknown : nil
        } catch {
            return error
        }
    }

    @Test("An access token has the rights of its line")
    func line() async throws {
        let refresh = AccessToken.make()
        let file = try Self.file([
            refresh.line(name: "van", rights: [.refresh], roles: ["driver"], claims: #"{"area":7,"sub":"x"}"#)
        ])
        let time = Mutex(1_000.0)
        let tokens = try await Self.issuer(file) { time.withLock { $0 } }
        let token = try tokens.issue(to: try await file.bearer(of: refresh.secret))
        let bearer = try #require(try Self.bearer(tokens, token))
        #expect(bearer.name == "van" && bearer.owner == "van" && bearer.rights == [.read, .write])
        #expect(bearer.roles == [ExactText("driver")] && bearer.claims["area"] == .integer(7) && bearer.expiry == 1_900)
        time.withLock { $0 = 1_900 }
        #expect(Self.refusal(tokens, token) == .expired)
        let payload = try #require(Base64URL.decode(token.split(separator: ".")[1].utf8))
        let json = try JSON(payload)
        #expect(json["sub"]?.text == "van" && json["roles"]?[0]?.text == "driver" && json["exp"] != nil)
    }

    @Test("Withdrawn refresh tokens are refused")
    func withdrawn() async throws {
        let (first, second) = (AccessToken.make(), AccessToken.make())
        let file = try Self.file([first.line(name: "a", rights: [.refresh, .read])])
        let tokens = try await Self.issuer(file)
        let token = try tokens.issue(to: try await file.bearer(of: first.secret))
        #expect(try Self.bearer(tokens, token)?.rights == [.read])
        // Another token under the same name.
        _ = file.serve(try TokenFile(text: second.line(name: "a", rights: [.refresh]), path: "f"))
        #expect(Self.refusal(tokens, token) == .withdrawn)
        _ = file.serve(try TokenFile(text: first.line(name: "a", rights: [.read]), path: "f"))
        #expect(Self.refusal(tokens, token) == .withdrawn, "it refreshes nothing now")
        _ = file.serve(try TokenFile(text: first.line(name: "a", rights: [.refresh], roles: ["x"]), path: "f"))
        #expect(try Self.bearer(tokens, token)?.roles == [ExactText("x")], "the line as it stands counts")
    }

    @Test("Gateways share a key")
    func sharedKey() async throws {
        let folder = try TemporaryFolder()
        let refresh = AccessToken.make()
        let file = try Self.file([refresh.line(name: "a", rights: [.refresh])])
        let path = folder.path + "/key"
        let one = try await Self.issuer(file, key: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let token = try one.issue(to: try await file.bearer(of: refresh.secret))
        #expect(Self.refusal(try await Self.issuer(file, key: path), token) == nil)
        #expect(Self.refusal(try await Self.issuer(file), token) == .unknown)
        // After a change of keys, the new key signs, and the old key is still valid.
        let old = try String(contentsOfFile: path, encoding: .utf8)
        try ("# new\n" + String(repeating: "x", count: 32) + "\n" + old).write(
            toFile: path, atomically: true, encoding: .utf8)
        let rolled = try await Self.issuer(file, key: path)
        #expect(Self.refusal(rolled, token) == nil)
        #expect(Self.refusal(one, try rolled.issue(to: try await file.bearer(of: refresh.secret))) == .unknown)
        let forged = String(token.dropLast(2)) + (token.hasSuffix("AA") ? "QQ" : "AA")
        #expect([.signature, .unknown].contains(Self.refusal(one, forged)))
        for text in ["", "short\n", "# none\n"] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            await #expect(throws: KeySetError.self) { try await Self.issuer(file, key: path) }
        }
    }

    /// The gateway reads keys that another gateway has written.
    @Test("Changed keys are read again, and an unusable file changes nothing")
    func reload() async throws {
        let folder = try TemporaryFolder()
        let (path, refresh) = (folder.path + "/key", AccessToken.make())
        let file = try Self.file([refresh.line(name: "a", rights: [.refresh])])
        func write(_ keys: [Character]) throws {
            let text = keys.map { String(repeating: $0, count: 32) + "\n" }.joined()
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        func issue(_ tokens: AccessTokens) async throws -> String {
            try tokens.issue(to: try await file.bearer(of: refresh.secret))
        }
        try write(["a"])
        let tokens = try await Self.issuer(file, key: path)
        let first = try await issue(tokens)
        #expect(Self.refusal(tokens, first) == nil)
        #expect(try await tokens.reload() == false, "it is the same")
        try write(["b", "a"])
        #expect(try await tokens.reload())
        let second = try await issue(tokens)
        #expect(Self.refusal(tokens, first) == nil, "a key behind the first one counts")
        #expect(Self.refusal(tokens, second) == nil)
        try write(["b"])
        #expect(try await tokens.reload())
        #expect(Self.refusal(tokens, first) == .unknown, "though it was verified before")
        #expect(Self.refusal(tokens, second) == nil)
        try "short".write(toFile: path, atomically: true, encoding: .utf8)
        await #expect(throws: KeySetError.self) { try await tokens.reload() }
        #expect(Self.refusal(tokens, second) == nil)
        try FileManager.default.removeItem(atPath: path)
        await #expect(throws: KeySetError.self) { try await tokens.reload() }
        #expect(!FileManager.default.fileExists(atPath: path), "it was the operator's to make")
        #expect(Self.refusal(tokens, try await issue(tokens)) == nil)
    }

    /// The gateway creates the key next to the journal for the first refresh token, also while it runs.
    @Test("The key is created when it is needed first")
    func createdKey() async throws {
        let folder = try TemporaryFolder()
        let (path, refresh) = (folder.path + "/journal.token-key", AccessToken.make())
        let file = try Self.file([])
        let tokens = try await AccessTokens(keys: .own(path), file: file, lifetime: 900)
        #expect(try await tokens.reload() == false)
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = file.serve(try TokenFile(text: refresh.line(name: "a", rights: [.refresh]), path: "f"))
        #expect(try await tokens.reload())
        let token = try tokens.issue(to: try await file.bearer(of: refresh.secret))
        let again = try await AccessTokens(keys: .own(path), file: file, lifetime: 900)
        #expect(Self.refusal(again, token) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["journal.token-key"])
    }

    @Test("The address returns access tokens")
    func address() async throws {
        let (refresh, plain) = (AccessToken.make(), AccessToken.make())
        let file = try Self.file([
            refresh.line(name: "van", rights: [.refresh], roles: ["operator"]),
            plain.line(name: "desk", rights: [.read, .write]),
        ])
        let tokens = try await Self.issuer(file)
        try await RunningGateway.with(
            try await JournalTests.database(.sqlite), rules: JournalTests.rules, journal: .together,
            verifier: AccessVerifier(file: file, jwt: nil, own: tokens), configure: { $0.accessTokens = tokens }
        ) { gateway async throws in
            let answer = try await gateway.client(token: refresh.secret) { client async throws in
                #expect(try await client.get("/v1/token").status == 405)
                #expect(try await client.get("/v1/rules").status == 401)
                #expect(try await client.post("/v1/token", "{}").status == 400)
                return try await client.send(.post, "/v1/token", [:], nil)
            }
            #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store", "\(answer.text)")
            let json = try answer.json()
            #expect(json["tokenType"]?.text == "Bearer" && json["expiresIn"]?.int == 900)
            let token = try #require(json["accessToken"]?.text)
            try await gateway.client(token: token) { client async throws in
                let edit = #"{"id":1,"changeset":{"person":{"points":{"old":1,"new":2}}}}"#
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
                let entries = try await client.get("/v1/journal").json()["entries"]?.array ?? []
                #expect(entries.map { $0["who"]?.text } == ["van"])
                #expect(try await client.send(.post, "/v1/token", [:], nil).status == 403)
                // The access token ends with its refresh token, on open connections too.
                _ = file.serve(try TokenFile(text: plain.line(name: "desk", rights: [.read]), path: "f"))
                #expect(try await client.get("/v1/rules").status == 401)
            }
            try await gateway.client(token: plain.secret) { client async throws in
                #expect(try await client.send(.post, "/v1/token", [:], nil).status == 403)
            }
            let stranger = try await gateway.client { try await $0.send(.post, "/v1/token", [:], nil) }
            #expect(stranger.status == 401)
        }
    }
}
