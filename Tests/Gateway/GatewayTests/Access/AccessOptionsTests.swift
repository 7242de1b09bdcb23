import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// The operator's settings of access.
@Suite(.serialized, .timeLimit(.minutes(3))) struct AccessOptionsTests {
    private static func status(_ gateway: GatewayProcess, _ token: String) async throws -> Int {
        try await HTTPClient.with(port: gateway.port, token: token) { try await $0.get("/v1/rules").status }
    }

    /// The log contains the reason why a token is refused.
    ///
    /// The answer does not.
    @Test("Tokens of an identity provider are accepted")
    func provider() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let signer = TestSigner.es256("k")
        let folder = try TemporaryFolder(files: ["keys.json": TestSigner.set([try signer.jwk()])])
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules,
            options: [
                "--jwt-keys", folder.path + "/keys.json", "--jwt-issuer", TestSigner.issuer, "--jwt-audience",
                TestSigner.audience,
            ])
        #expect(!gateway.log.contains("every program that reaches"))
        #expect(try await Self.status(gateway, try signer.token()) == 200)
        let other = try signer.token(TestSigner.claims(["aud": "\"s3cret\""]))
        #expect(try await Self.status(gateway, other) == 401)
        while !gateway.log.contains("status=401") { _ = try await Self.status(gateway, other) }
        #expect(gateway.log.contains("cause=\"token for another audience\"") && !gateway.log.contains("s3cret"))
        // The file is read again, and keys that it no longer contains are refused.
        let next = TestSigner.es256("next")
        try Data(TestSigner.set([try next.jwk()]).utf8).write(to: URL(filePath: folder.path + "/keys.json"))
        while try await Self.status(gateway, try next.token()) != 200 { await Task.yield() }
        #expect(try await Self.status(gateway, try signer.token()) == 401)
    }

    @Test("Each setting can be in the settings file and in the environment")
    func settings() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let (signer, refresh) = (TestSigner.es256("k"), AccessToken.make())
        let folder = try TemporaryFolder(files: [
            "keys.json": TestSigner.set([try signer.jwk()]), "secret": String(repeating: "s", count: 32),
            "signing": String(repeating: "t", count: 32), "tokens": refresh.line(name: "van", rights: [.refresh]),
        ])
        let settings = """
            jwt-keys: \(folder.path)/keys.json
            jwt-issuer: \(TestSigner.issuer)
            jwt-audience: \(TestSigner.audience)
            tokens: \(folder.path)/tokens
            token-key: \(folder.path)/signing
            token-lifetime: 77
            min-client: [shop-ios/3.2, shop-web/2]
            upgrade-message: Update.
            rate-requests: 1000
            """
        try settings.write(toFile: folder.path + "/settings.yaml", atomically: true, encoding: .utf8)
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules, options: ["--config", folder.path + "/settings.yaml"],
            wrapper: [
                "env", "FIELDMERGE_JWT_ROLES=groups", "FIELDMERGE_JWT_SECRET_FILE=\(folder.path)/secret",
                "FIELDMERGE_UPGRADE_LINK=https://example.com/get", "FIELDMERGE_RATE_EDITS=1000",
            ])
        let token = try signer.token(TestSigner.claims(["groups": "\"operator\""]))
        try await HTTPClient.with(port: gateway.port, token: token) { client async throws in
            #expect(try await client.get("/v1/journal").status == 200, "the role of the claim that is named")
            let old = try await client.get("/v1/rules", ["X-Client": "shop-web/1.9"])
            let problem = try JSON(old.body)
            #expect(old.status == 426 && problem["message"]?.text == "Update.")
            #expect(problem["link"]?.text == "https://example.com/get")
        }
        let shared = TestSigner.secretToken(Array(String(repeating: "s", count: 32).utf8))
        #expect(try await Self.status(gateway, shared) == 200)
        let answer = try await HTTPClient.with(port: gateway.port, token: refresh.secret) {
            try await $0.send(.post, "/v1/token", [:], nil)
        }
        #expect(try JSON(answer.body)["expiresIn"]?.int == 77)
    }

    /// A SIGHUP requests the keys again.
    @Test("An unreachable address of keys does not delay the start")
    func unreachableAddress() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let signer = TestSigner.es256("k")
        try await KeyServer.with(.silence) { server async throws in
            let gateway = try await GatewayProcess(
                database, rules: MergeTests.rules,
                options: [
                    "--jwt-keys", server.url, "--jwt-issuer", TestSigner.issuer, "--jwt-audience", TestSigner.audience,
                ])
            while try await !Self.readiness(gateway).contains("took too long") { await Task.yield() }
            #expect(try await Self.status(gateway, try signer.token()) == 401)
            server.answer(.body(TestSigner.set([try signer.jwk()])))
            gateway.hangUp()
            while try await Self.status(gateway, try signer.token()) != 200 { await Task.yield() }
            #expect(try await !Self.readiness(gateway).contains("took too long"))
            // If tokens are required, a foreign host name (DNS rebinding) does no harm.
            let answer = try await Shell.capture([
                "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "20", "-H", "Host: evil.example",
                "http://127.0.0.1:\(gateway.port)/healthz",
            ])
            #expect(answer.output == "200", "\(answer.errors)")
        }
    }

    @Test("A page whose host name was redirected to this machine is refused")
    func foreignName() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let gateway = try await GatewayProcess(database, rules: MergeTests.rules)
        for (host, status) in [
            ("evil.example", 403), ("evil.example:8080", 403), ("localhost", 200), ("127.0.0.1", 200),
        ] {
            for path in ["/v1/records/people/1", "/v1/rules", "/metrics"] {
                let answer = try await Shell.capture([
                    "curl", "-sS", "-w", "%{http_code}", "--max-time", "20", "-H", "Host: \(host)",
                    "http://127.0.0.1:\(gateway.port)\(path)",
                ])
                #expect(answer.output.hasSuffix("\(status)"), "\(host)\(path): \(answer.errors)")
                #expect(answer.output.contains(#""code":"strange-host""#) == (status == 403))
                #expect(status == 200 || !answer.output.contains("Ann"))
            }
        }
    }

    private static func readiness(_ gateway: GatewayProcess) async throws -> String {
        try await HTTPClient.with(port: gateway.port) { try await $0.get("/readyz").text }
    }

    /// The key of the tokens is in a file next to the journal.
    @Test("Access tokens remain valid after a restart")
    func tokenKey() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let refresh = AccessToken.make()
        let folder = try TemporaryFolder(files: ["tokens": refresh.line(name: "van", rights: [.refresh])])
        let options = ["--tokens", folder.path + "/tokens", "--token-lifetime", "60"]
        let first = try await GatewayProcess(database, rules: MergeTests.rules, options: options)
        let answer = try await HTTPClient.with(port: first.port, token: refresh.secret) {
            try await $0.send(.post, "/v1/token", [:], nil)
        }
        let token = try #require(try JSON(answer.body)["accessToken"]?.text)
        #expect(try JSON(answer.body)["expiresIn"]?.int == 60)
        let key = try FileManager.default.attributesOfItem(atPath: database.journalFile + ".token-key")
        #expect(key[.posixPermissions] as? Int == 0o600)
        #expect(await first.stop() == 0)
        let second = try await GatewayProcess(database, rules: MergeTests.rules, options: options)
        #expect(try await Self.status(second, token) == 200)
        try Data("# nobody".utf8).write(to: URL(filePath: folder.path + "/tokens"))
        while try await Self.status(second, token) != 401 { await Task.yield() }
    }

    @Test(
        "Unusable options are errors",
        arguments: [
            (["--jwt-keys", "/nowhere"], "need --jwt-issuer and --jwt-audience"),
            (["--jwt-issuer", "x"], "have no effect without --jwt-keys"),
            (
                ["--jwt-keys", "/nowhere", "--jwt-issuer", "x", "--jwt-audience", "y"],
                "/nowhere: the file cannot be read"
            ),
            (
                ["--jwt-keys", "http://x.example/", "--jwt-issuer", "x", "--jwt-audience", "y"],
                "plain http is for loopback"
            ),
            (["--token-key", "/nowhere"], "--token-key has no effect without --tokens"),
            (["--min-client", "shop"], "--min-client: “shop” is not NAME/VERSION"),
            (["--upgrade-link", "x"], "have no effect without --min-client"),
            (["--rate-requests=-1"], "--rate-requests is a whole number"),
        ])
    func unusableOptions(_ options: [String], _ fault: String) async throws {
        let ran = try await Shell.capture(
            [GatewayProcess.program, "serve", "--database", "sqlite:/nowhere", "--rules", "/nowhere"] + options)
        #expect(ran.status != 0 && ran.errors.contains(fault), "\(ran.errors)")
    }
}
