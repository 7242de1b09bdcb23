import Foundation
import Logging
import MergeCore
import Operations
import Synchronization
import Testing
import TestSupport

@testable import Gateway

/// Tokens that an identity provider signed.
@Suite(.timeLimit(.minutes(3))) struct JWTTests {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A verifier with the keys of a set.
    private static func access(
        keys: String, pause: Duration = .seconds(30), interval: Duration? = nil, secret: [UInt8]? = nil,
        now: @escaping JWTVerifier.Clock = { Date().timeIntervalSince1970 }
    ) async throws -> JWTAccess {
        let folder = try TemporaryFolder(files: ["keys.json": keys])
        var settings = JWTSettings(issuer: TestSigner.issuer, audience: TestSigner.audience)
        settings.keys = keys.hasPrefix("http") ? keys : folder.path + "/keys.json"
        if let secret {
            settings.secretFile = folder.path + "/secret"
            try Data(secret + [10]).write(to: URL(filePath: folder.path + "/secret"))
        }
        let access = try await JWTAccess(settings, logger: quiet, pause: pause, interval: interval, now: now)
        return withExtendedLifetime(folder) { access }
    }

    private static func refusal(_ access: JWTAccess, _ token: String) async -> TokenRefusal? {
        do {
            _ = try await AccessVerifier(file: nil, jwt: access).bearer(of: token)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Good tokens

    @Test("Keys of each kind are accepted")
    func keys() async throws {
        let signers = [TestSigner.es256("e"), .edDSA("d"), try .rsa("r"), try .rsa("p", isPSS: true), .es256(nil)]
        let access = try await Self.access(keys: TestSigner.set(try signers.map { try $0.jwk() }))
        for signer in signers {
            let bearer = try await AccessVerifier(file: nil, jwt: access).bearer(of: try signer.token())
            #expect(bearer.name == "ann" && bearer.rights == [.read, .write])
            #expect(bearer.owner == TestSigner.issuer + "\nann")
            #expect(bearer.expiry ?? 0 > Date().timeIntervalSince1970)
        }
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let shared = try await Self.access(keys: TestSigner.set([try signers[0].jwk()]), secret: secret)
        #expect(await Self.refusal(shared, TestSigner.secretToken(secret)) == nil)
    }

    @Test(arguments: [
        (#"["driver","planner"]"#, ["driver", "planner"]), (#""driver""#, ["driver"]), ("7", []), ("{}", []),
        (#"["driver",7]"#, []), ("null", []), ("", []), (#"["driver",["x"]]"#, []),
    ])
    func rolesAreStrings(_ claim: String, _ roles: [String]) async throws {
        let signer = TestSigner.es256("k")
        let access = try await Self.access(keys: TestSigner.set([try signer.jwk()]))
        let token = try signer.token(TestSigner.claims(["roles": claim, "who": "\"bob\"", "area": "7"]))
        let bearer = try await AccessVerifier(file: nil, jwt: access).bearer(of: token)
        #expect(bearer.roles.map(\.string).sorted() == roles)
        #expect(bearer.name == "ann" && bearer.claims["area"] == .integer(7))
    }

    @Test("Several audiences and types are accepted")
    func audiences() async throws {
        let signer = TestSigner.es256("k")
        let access = try await Self.access(keys: TestSigner.set([try signer.jwk()]))
        let now = Int(Date().timeIntervalSince1970)
        for claims in [["aud": #"["x","fieldmerge"]"#], ["nbf": String(now + 30)], ["exp": "\(now + 60).5"]] {
            #expect(await Self.refusal(access, try signer.token(TestSigner.claims(claims))) == nil, "\(claims)")
        }
        // Other members of the header about keys are ignored.
        let talkative = #"{"alg":"ES256","kid":"k","jku":"https://evil.example/","x5u":"x","x5c":["x"],"jwk":{}}"#
        #expect(await Self.refusal(access, try signer.token(header: talkative)) == nil)
        for type in ["JWT", "at+jwt", "jwt"] {
            let header = "{\"alg\":\"ES256\",\"kid\":\"k\",\"typ\":\"\(type)\"}"
            #expect(await Self.refusal(access, try signer.token(header: header)) == nil, "\(type)")
        }
    }

    @Test("A kid of a public key excludes the operator's secret, and no kid or an unknown one does not")
    func theSecretSignsForNoPublicKey() async throws {
        let (signer, rsa) = (TestSigner.es256("k"), try TestSigner.rsa("r"))
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let access = try await Self.access(
            keys: TestSigner.set([try signer.jwk(), try rsa.jwk()]), secret: secret)
        for kid in ["k", "r"] {
            let token = TestSigner.secretToken(secret, header: "{\"alg\":\"HS256\",\"kid\":\"\(kid)\"}")
            #expect(await Self.refusal(access, token) == .algorithm, "\(kid)")
            #expect(!AccessVerifier(file: nil, jwt: access).seemsGood(token), "\(kid)")
        }
        #expect(await Self.refusal(access, TestSigner.secretToken(secret)) == nil)
        let other = TestSigner.secretToken(secret, header: #"{"alg":"HS256","kid":"legacy"}"#)
        #expect(await Self.refusal(access, other) == nil)
        #expect(await Self.refusal(access, try signer.token()) == nil)
    }

    // MARK: The matrix

    /// Every kind of bad token, with the check that the log names.
    private static func badTokens(_ signer: TestSigner, _ rsa: TestSigner) throws -> [(String, TokenRefusal)] {
        let now = Int(Date().timeIntervalSince1970)
        func claims(_ more: [String: String]) throws -> String { try signer.token(TestSigner.claims(more)) }
        func header(_ text: String) throws -> String { try signer.token(header: text) }
        let good = try signer.token()
        let signature = good.split(separator: ".").last ?? ""
        let twice = TestSigner.claims().dropLast() + #","sub":"bob"}"#
        return [
            ("a.b", .unknown), ("a.b.c", .malformed), ("..", .malformed),
            (good + "=", .malformed), (good.replacing("." + signature, with: "."), .signature),
            (try claims(["exp": String(now - 1)]), .expired), (try claims(["exp": ""]), .noEnd),
            (try claims(["exp": "\"never\""]), .noEnd), (try claims(["exp": "null"]), .noEnd),
            (try claims(["nbf": String(now + 90)]), .early), (try claims(["nbf": "\"x\""]), .claims),
            (try claims(["iss": "\"https://id.example.com\""]), .issuer), (try claims(["iss": ""]), .issuer),
            (try claims(["iss": "[\"\(TestSigner.issuer)\"]"]), .issuer),
            (try claims(["aud": "\"other\""]), .audience), (try claims(["aud": ""]), .audience),
            (try claims(["aud": #"["fieldmerge",1]"#]), .audience), (try claims(["aud": "[]"]), .audience),
            (try claims(["sub": ""]), .subject), (try claims(["sub": "\"\""]), .subject),
            (try claims(["sub": "7"]), .subject), (try claims(["sub": "\"a\\nb\""]), .subject),
            (try claims(["sub": "\"" + String(repeating: "a", count: 256) + "\""]), .subject),
            (try signer.token(String(twice)), .claims), (try signer.token("[]"), .claims),
            (try header(#"{"alg":"none","kid":"k"}"#), .algorithm),
            (try header(#"{"alg":"None","kid":"k"}"#), .algorithm),
            (try header(#"{"kid":"k"}"#), .algorithm), (try header(#"{"alg":"ES512","kid":"k"}"#), .algorithm),
            (try header(#"{"alg":"RS256","kid":"k"}"#), .algorithm),
            (try header(#"{"alg":"HS256","kid":"k"}"#), .algorithm),
            (try header(#"{"alg":"ES256","alg":"ES256","kid":"k"}"#), .malformed),
            (try header(#"{"alg":"ES256","kid":"k","crit":["exp"]}"#), .critical),
            (try header(#"{"alg":"ES256","kid":"k","crit":[]}"#), .critical),
            (try header(#"{"alg":"ES256","kid":"k","typ":"dpop+jwt"}"#), .type),
            (try header(#"{"alg":"ES256","kid":"k","typ":7}"#), .type),
            (try header(#"{"alg":"ES256","kid":7}"#), .malformed), (try header(#"{"alg":"ES256","kid":"x"}"#), .key),
            (try header("{\"alg\":\"ES256\",\"kid\":\"x\",\"jwk\":\(try signer.jwk())}"), .key),
            (try TestSigner.es256("k").token(), .signature), (try TestSigner.es256(nil).token(), .signature),
            (try header(#"{"alg":"ES256","kid":"bound"}"#), .algorithm),
            (try header(#"{"alg":"ES256","kid":"enc"}"#), .key),
            // The public key, which is not secret, is used as a shared secret.
            (TestSigner.secretToken(Array(rsa.pem.utf8), header: #"{"alg":"HS256","kid":"r"}"#), .algorithm),
            (TestSigner.secretToken([], header: #"{"alg":"HS256","kid":"oct"}"#), .key),
            (try claims(["x": "\"" + String(repeating: "a", count: 8_200) + "\""]), .tooLong),
            (String(repeating: "a", count: 40_000), .tooLong),
            // As long as the head of a request may be, nearly.
            (try claims(["x": "\"" + String(repeating: "a", count: 50_000) + "\""]), .tooLong),
        ]
    }

    private static func keySet(_ signer: TestSigner, _ rsa: TestSigner) throws -> String {
        TestSigner.set([
            #"{"kty":"PQC","kid":"future","pub":"AAAA"}"#, #"{"kty":"oct","kid":"oct","k":""}"#, "7", "{}",
            #"{"kty":"RSA","kid":"short","n":"AAAA","e":"AQAB"}"#, #"{"kty":"EC","kid":"k2","crv":"P-256"}"#,
            try signer.jwk(), try rsa.jwk(), try signer.jwk(["use": "enc"]).replacing("\"k\"", with: "\"enc\""),
            try rsa.jwk(["alg": "PS256"]).replacing("\"r\"", with: "\"bound\""),
        ])
    }

    /// The answer is the same for each error, and no query reaches the database.
    @Test("All invalid tokens have the same status 401")
    func invalidTokens() async throws {
        let (signer, rsa) = (TestSigner.es256("k"), try TestSigner.rsa("r"))
        let access = try await Self.access(keys: try Self.keySet(signer, rsa))
        let verifier = AccessVerifier(file: nil, jwt: access)
        let bad = try Self.badTokens(signer, rsa)
        let good = try signer.token()
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        try await RunningGateway.with(database, rules: MergeTests.rules, verifier: verifier) { gateway async throws in
            let none = try await gateway.client { try await $0.get("/v1/records/people/1") }
            for (index, (token, refusal)) in bad.enumerated() {
                let thrown = await #expect(throws: TokenRefusal.self) { try await verifier.bearer(of: token) }
                #expect(thrown == refusal, "\(index): \(token.prefix(60))")
                let answer = try await gateway.client(token: token) {
                    try await $0.post(
                        "/v1/merge/people", #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"X"}}}}"#)
                }
                #expect(answer.status == 401 && answer.body == none.body, "\(index): \(answer.text)")
                #expect(answer.headers["www-authenticate"] == none.headers["www-authenticate"])
            }
            // The invalid tokens have not blocked the valid token.
            try await gateway.client(token: good) { client async throws in
                #expect(try await client.get("/v1/records/people/1").status == 200)
                let two = try await client.get("/v1/rules", ["authorization": "Bearer " + good])
                #expect(two.status == 401 && two.body == none.body)
            }
            #expect(try await database.run("SELECT name FROM people WHERE id = 1;") == "Ann\n")
        }
    }

    /// The server's log contains no statement of these requests.
    @Test("A request with an invalid token sends no query", .tags(.mariadb), .needsMariaDB)
    func noQueries() async throws {
        let (signer, rsa) = (TestSigner.es256("k"), try TestSigner.rsa("r"))
        let verifier = AccessVerifier(file: nil, jwt: try await Self.access(keys: try Self.keySet(signer, rsa)))
        // Longer than the head of a request may be.
        let huge = try signer.token(TestSigner.claims(["x": "\"" + String(repeating: "a", count: 75_000) + "\""]))
        let bad = try Self.badTokens(signer, rsa).map(\.0) + ["", huge]
        let good = try signer.token()
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(.mariadb, mariadb: MergeTests.mariadb, sqlite: "", server: server)
        try await RunningGateway.with(database, rules: MergeTests.rules, verifier: verifier) { gateway async throws in
            func statements() async throws -> String {
                try await server.run(
                    "SELECT COUNT(*) FROM mysql.general_log WHERE user_host LIKE '%\(database.account)%'")
            }
            func bodies(_ token: String?, posts: Bool = true) async throws -> [(status: Int, body: [UInt8])] {
                var answers: [(Int, [UInt8])] = []
                // A head that is too long ends its connection.
                for (path, body) in [
                    ("/v1/records/people/1", nil), ("/v1/records/people", nil), ("/v1/rules", nil), ("/metrics", nil),
                    ("/v1/merge/people", #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"X"}}}}"#),
                    ("/v1/push", #"{"key":"k","edits":[]}"#), ("/v1/token", ""), ("/v1/journal", nil),
                ] as [(String, String?)] where posts || body == nil {
                    let answer = try await gateway.client(token: token) { client async throws in
                        if let body { return try await client.post(path, body) }
                        return try await client.get(path)
                    }
                    answers.append((answer.status, answer.body))
                }
                return answers
            }
            try await server.run("SET GLOBAL log_output = 'TABLE'; SET GLOBAL general_log = ON;")
            let none = try await bodies(nil)
            for token in bad {
                // After a head that is too long, the gateway closes the connection, so a client may fail to send a body.
                for (answer, expected) in zip(try await bodies(token, posts: token != huge), none) {
                    if token == huge {
                        #expect(answer.status == 400 && String(decoding: answer.body, as: UTF8.self).contains("80 KiB"))
                    } else {
                        #expect(answer.status == 401 && answer.body == expected.body, "\(token.prefix(60))")
                    }
                }
            }
            #expect(try await statements() == "0\n")
            let answer = try await gateway.client(token: good) { try await $0.get("/v1/records/people/1") }
            #expect(answer.status == 200)
            #expect(try await statements() != "0\n", "the log tells of what a good token asks for")
        }
    }

    /// A key without `alg` accepts the algorithms of its kind.
    @Test("A forged first token does not fix the algorithm of a key")
    func forgedFirst() async throws {
        let rsa = try TestSigner.rsa("r")
        let access = try await Self.access(keys: TestSigner.set([try rsa.jwk()]))
        let forged = try rsa.token(header: #"{"alg":"PS256","kid":"r"}"#)
        #expect(await Self.refusal(access, forged) == .signature)
        #expect(await Self.refusal(access, try rsa.token()) == nil)
    }

    /// A key belongs to issuer and `sub`: it outlives a token, and is none of a namesake's in the tokens file.
    @Test("Idempotency keys belong to issuer and subject")
    func idempotencyKeys() async throws {
        let signer = TestSigner.es256("k")
        let access = try await Self.access(keys: TestSigner.set([try signer.jwk()]))
        let namesake = AccessToken.make()
        let file = KnownTokens(try TokenFile(text: namesake.line(name: "ann", rights: [.read, .write]), path: "f"))
        let tokens = [try signer.token(), try signer.token(TestSigner.claims(["jti": "2"])), namesake.secret]
        try await RunningGateway.with(
            try await JournalTests.database(.sqlite), rules: JournalTests.rules, journal: .together,
            verifier: AccessVerifier(file: file, jwt: access)
        ) { gateway async throws in
            let edit = #"{"resource":"people","id":1,"changeset":{"person":{"points":{"old":1,"new":2}}}}"#
            var replayed: [Bool] = []
            for token in tokens {
                let answer = try await gateway.client(token: token) {
                    try await $0.post("/v1/push", "{\"key\":\"k\",\"edits\":[\(edit)]}")
                }
                #expect(answer.status == 200, "\(answer.text)")
                replayed.append(answer.headers["idempotent-replayed"] != nil)
            }
            #expect(replayed == [false, true, false])
        }
    }

    // MARK: Time

    @Test("A token is refused from the second of its end")
    func expiry() async throws {
        let signer = TestSigner.es256("k")
        let time = Mutex(1_000.0)
        let access = try await Self.access(keys: TestSigner.set([try signer.jwk()])) { time.withLock { $0 } }
        let token = try signer.token(TestSigner.claims(["exp": "2000", "nbf": "1000"]))
        for (now, refusal) in [
            (939.9, TokenRefusal.early), (940, nil), (1_999.9, nil), (2_000, .expired), (2_001, .expired),
        ] as [(Double, TokenRefusal?)] {
            time.withLock { $0 = now }
            #expect(await Self.refusal(access, token) == refusal, "\(now)")
        }
    }

    @Test("The number of remembered tokens is limited")
    func cache() throws {
        let verified = VerifiedTokens<String>(most: 3)
        for index in 0..<10 { verified.keep("\(index)", of: TokenMark("\(index)"), until: 10, since: 0, now: 0) }
        #expect(verified.count == 3)
        #expect(try verified.proof(of: TokenMark("9"), now: 0) == "9")
        #expect(throws: TokenRefusal.expired) { try verified.proof(of: TokenMark("9"), now: 10) }
        #expect(verified.count == 2, "one that has ended makes room")
        verified.forget()
        verified.keep("a", of: TokenMark("a"), until: 10, since: 0, now: 0)
        #expect(verified.count == 0, "it was verified by keys of before")
    }

    // MARK: Keys from an address

    @Test func keysRoll() async throws {
        let (old, new) = (TestSigner.es256("old"), TestSigner.es256("new"))
        try await KeyServer.with(.body(TestSigner.set([try old.jwk()]))) { server async throws in
            let access = try await Self.access(keys: server.url, pause: .zero)
            #expect(await Self.refusal(access, try old.token()) == nil)
            #expect(server.count == 1)
            server.answer(.body(TestSigner.set([try old.jwk(), try new.jwk()])))
            let token = try new.token()
            let refusals = await withTaskGroup(of: TokenRefusal?.self) { group in
                for _ in 0..<50 { group.addTask { await Self.refusal(access, token) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.allSatisfy { $0 == nil } && server.count < 50)
            server.answer(.body(TestSigner.set([try new.jwk()])))
            #expect(await Self.refusal(access, try TestSigner.es256("third").token()) == .key)
            #expect(await Self.refusal(access, try old.token()) == .key, "a key that was withdrawn opens nothing")
            #expect(await Self.refusal(access, token) == nil)
        }
    }

    /// No token with an unknown `kid` arrives, so only the background read finds that the key was replaced.
    @Test("A key that its provider replaced ends without an unknown key", .timeLimit(.minutes(1)))
    func replacedKey() async throws {
        let (old, new) = (TestSigner.es256("k"), TestSigner.es256("k"))
        try await KeyServer.with(.body(TestSigner.set([try old.jwk()]))) { server async throws in
            let access = try await Self.access(keys: server.url, interval: .milliseconds(20))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await access.run() }
                #expect(await Self.refusal(access, try old.token()) == nil)
                server.answer(.body(TestSigner.set([try new.jwk()])))
                while await Self.refusal(access, try old.token()) == nil { await Task.yield() }
                #expect(await Self.refusal(access, try new.token()) == nil)
                group.cancelAll()
            }
        }
    }

    @Test("The address of the keys is requested rarely")
    func requests() async throws {
        let signer = TestSigner.es256("k")
        try await KeyServer.with(.body(TestSigner.set([try signer.jwk()]))) { server async throws in
            let access = try await Self.access(keys: server.url)
            #expect(await Self.refusal(access, try signer.token()) == nil)
            for index in 0..<20 {
                #expect(await Self.refusal(access, try TestSigner.es256("x\(index)").token()) == .key)
            }
            #expect(server.count == 1)
        }
    }

    @Test(
        "A failed request for keys keeps the known keys",
        arguments: ["down", "moved", "silent", "huge", "nonsense", "empty", "secrets"])
    func failedRequest(_ fault: String) async throws {
        let signer = TestSigner.es256("k")
        try await KeyServer.with(.body(TestSigner.set([try signer.jwk()]))) { server async throws in
            let access = try await Self.access(keys: server.url, pause: .zero)
            #expect(await Self.refusal(access, try signer.token()) == nil)
            #expect(access.verifier.trouble == nil)
            switch fault {
            case "down": server.answer(.status(503))
            case "moved": server.answer(.status(302))
            case "silent": server.answer(.silence)
            case "huge": server.answer(.flood)
            case "nonsense": server.answer(.body("<html>"))
            case "secrets": server.answer(.body(#"{"keys":[{"kty":"oct","kid":"x","k":"c2VjcmV0"}]}"#))
            default: server.answer(.body(#"{"keys":[]}"#))
            }
            let start = ContinuousClock.now
            #expect(await Self.refusal(access, try TestSigner.es256("x").token()) == .key)
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(access.verifier.trouble?.contains("/keys: ") == true)
            #expect(await Self.refusal(access, try signer.token(TestSigner.claims(["x": "1"]))) == nil)
        }
    }

    @Test(
        "Keys over HTTP are accepted from loopback addresses only",
        arguments: [
            ("https://id.example.com/keys?x=1", true), ("https://id.example.com:8443", true),
            ("http://127.0.0.1:9/k", true),
            ("http://[::1]:9/k", true), ("http://localhost/k", true), ("http://id.example.com/keys", false),
            ("http://127.0.0.1.example.com/keys", false), ("http://10.0.0.1/keys", false),
            ("ftp://127.0.0.1/keys", false),
            ("https://", false), ("https://user@id.example.com/keys", false),
        ])
    func plainHTTP(_ text: String, _ isGood: Bool) {
        #expect(((try? KeyAddress(text)) != nil) == isGood)
    }

    @Test("A short secret is refused")
    func shortSecret() async throws {
        let keys = TestSigner.set([try TestSigner.es256("k").jwk()])
        await #expect(throws: KeySetError.self) {
            try await Self.access(keys: keys, secret: Array("0123456789abcdef0123456789abcde".utf8))
        }
    }

    @Test("A changed secret replaces the old one, and an unusable file changes nothing")
    func changedSecret() async throws {
        let folder = try TemporaryFolder()
        let (first, second) = (Array(repeating: UInt8(65), count: 32), Array(repeating: UInt8(66), count: 40))
        func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: folder.path + "/secret")) }
        try write(first)
        var settings = JWTSettings(issuer: TestSigner.issuer, audience: TestSigner.audience)
        settings.secretFile = folder.path + "/secret"
        let access = try await JWTAccess(settings, logger: Self.quiet)
        let secret = try #require(access.secret)
        let (old, new) = (TestSigner.secretToken(first), TestSigner.secretToken(second))
        #expect(await Self.refusal(access, old) == nil)
        #expect(await Self.refusal(access, new) == .signature)
        try write(second)
        await secret.reload()
        #expect(await Self.refusal(access, old) == .signature, "it was verified, and by another secret")
        #expect(await Self.refusal(access, new) == nil)
        try write([1])
        await secret.reload()
        #expect(access.verifier.trouble?.contains("it needs 32") == true)
        #expect(await Self.refusal(access, new) == nil)
        try write(second + [10])
        await secret.reload()
        #expect(access.verifier.trouble == nil)
        #expect(await Self.refusal(access, new) == nil)
    }

    /// Two tokens differ if any byte differs, at any position.
    @Test("Different tokens have different fingerprints")
    func fingerprints() {
        let token = (0..<70).map { String(UnicodeScalar(UInt8(48 + $0 % 70))) }.joined()
        var marks: Set<TokenMark> = [TokenMark(token)]
        for length in 0..<70 { marks.insert(TokenMark(String(token.prefix(length)))) }
        for place in 0..<70 {
            var bytes = Array(token.utf8)
            bytes[place] ^= 1
            marks.insert(TokenMark(String(decoding: bytes, as: UTF8.self)))
        }
        #expect(marks.count == 141 && marks.contains(TokenMark(token)))
    }

    @Test("Invalid base64 is refused")
    func strictBase64() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
        for text in ["A", "AB=", "AB==", "A+", "A/", "AB C", "AB", "AAB", "é"] where text != "AA" {
            #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
        }
    }
}
