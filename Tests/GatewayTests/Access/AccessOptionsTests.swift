import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Who is let in, as an operator sets it up.
@Suite(.serialized, .timeLimit(.minutes(3))) struct AccessOptionsTests {
    private static func status(_ gateway: GatewayProcess, _ token: String) async throws -> Int {
        try await HTTPClient.with(port: gateway.port, token: token) { try await $0.get("/v1/rules").status }
    }

    /// The log says why a token opens nothing; the answer does not.
    @Test func aProviderIsLetIn() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let signer = TestSigner.es256("k")
        let folder = try TemporaryFolder(files: ["keys.json": TestSigner.set([try signer.jwk()])])
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules,
            options: [
                "--jwt-keys", folder.path + "/keys.json", "--jwt-issuer", TestSigner.issuer, "--jwt-audience",
                TestSigner.audience,
            ])
        #expect(!gateway.log.contains("everybody who reaches"))
        #expect(try await Self.status(gateway, try signer.token()) == 200)
        let other = try signer.token(TestSigner.claims(["aud": "\"s3cret\""]))
        #expect(try await Self.status(gateway, other) == 401)
        while !gateway.log.contains("status=401") { _ = try await Self.status(gateway, other) }
        #expect(gateway.log.contains("cause=\"token for another audience\"") && !gateway.log.contains("s3cret"))
        // The file is looked at, and keys that were taken out of it open nothing.
        let next = TestSigner.es256("next")
        try Data(TestSigner.set([try next.jwk()]).utf8).write(to: URL(filePath: folder.path + "/keys.json"))
        while try await Self.status(gateway, try next.token()) != 200 { await Task.yield() }
        #expect(try await Self.status(gateway, try signer.token()) == 401)
    }

    /// Access tokens outlive a restart, by the key that lies beside the journal.
    @Test func aTokenKeyIsMadeOnce() async throws {
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

    @Test(arguments: [
        (["--jwt-keys", "/nowhere"], "need --jwt-issuer and --jwt-audience"),
        (["--jwt-issuer", "x"], "say nothing without --jwt-keys"),
        (["--jwt-keys", "/nowhere", "--jwt-issuer", "x", "--jwt-audience", "y"], "/nowhere: the file cannot be read"),
        (
            ["--jwt-keys", "http://x.example/", "--jwt-issuer", "x", "--jwt-audience", "y"],
            "plain http is for loopback"
        ),
        (["--token-key", "/nowhere"], "--token-key says nothing without --tokens"),
        (["--min-client", "shop"], "--min-client: “shop” is not NAME/VERSION"),
        (["--upgrade-link", "x"], "say nothing without --min-client"),
        (["--rate-requests=-1"], "--rate-requests is a whole number"),
    ])
    func optionsThatCannotBeUsedAreErrors(_ options: [String], _ fault: String) async throws {
        let ran = try await Shell.capture(
            [GatewayProcess.program, "serve", "--database", "sqlite:/nowhere", "--rules", "/nowhere"] + options)
        #expect(ran.status != 0 && ran.errors.contains(fault), "\(ran.errors)")
    }
}
