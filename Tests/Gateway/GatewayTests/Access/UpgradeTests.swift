import Operations
import Testing
import TestSupport

@testable import Gateway

/// Programs that are too old.
@Suite struct UpgradeTests {
    @Test(
        "Versions are compared by numbers",
        arguments: [
            ("3.2", "3.2", false), ("3.2.0", "3.2", false), ("3.10", "3.9", false), ("3.9", "3.10", true),
            ("3.2-beta", "3.2", true), ("3.2", "3.2-beta", false), ("3.2-alpha", "3.2-beta", true),
            ("4", "3.9.9", false),
            ("3.2+45", "3.2", false), ("0003.2", "3.2", false), ("2", "10", true),
        ])
    func comparison(_ version: String, _ minimum: String, _ isOld: Bool) throws {
        let (a, b) = (try #require(ClientVersion(version)), try #require(ClientVersion(minimum)))
        #expect(a.isOlder(than: b) == isOld)
    }

    @Test(
        "Other forms are not versions",
        arguments: ["", "x", "v3", "3.", ".3", "3..2", "3.2 ", "٣", "99999999999999999999", "-1", "3,2"])
    func otherForms(_ text: String) { #expect(ClientVersion(text) == nil) }

    @Test("The minimum version is checked", arguments: ["shop", "/3", "shop/", "shop/x"])
    func minimum(_ text: String) {
        #expect(throws: MinimumClientsError.self) { try MinimumClients([text]) }
        #expect(throws: MinimumClientsError.self) { try MinimumClients(["a/1", "a/2"]) }
    }

    @Test("The version of a client is checked before all else")
    func oldPrograms() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let token = AccessToken.make()
        let minimum = try MinimumClients(
            ["shop-ios/3.2", "shop-web/2"], message: "Please update “Shop”.", link: "https://example.com/get")
        try await RunningGateway.with(
            database, rules: MergeTests.rules, tokens: token.line(name: "a", rights: [.read, .write]),
            configure: { $0.minimumClients = minimum }
        ) { gateway async throws in
            try await gateway.client(token: token.secret) { client async throws in
                for (header, status) in [
                    ("shop-ios/3.1.9", 426), ("shop-ios/3.2-rc1", 426), ("shop-ios/new", 426), ("shop-ios", 426),
                    ("shop-ios/3.2", 200), ("shop-ios/3.10", 200), ("shop-web/1", 426), ("shop-web/2", 200),
                    ("other/0.1", 200), ("Shop-iOS/1", 200), ("", 200),
                ] {
                    let answer = try await client.get("/v1/rules", ["X-Client": header])
                    #expect(answer.status == status, "\(header)")
                }
                #expect(try await client.get("/v1/rules").status == 200)
            }
            try await gateway.client { client async throws in
                let old = ["X-Client": "shop-ios/1.0"]
                for path in ["/v1/rules", "/readyz", "/metrics", "/nowhere", "/v1/changes"] {
                    #expect(try await client.get(path, old).status == 426, "before 401 and 404: \(path)")
                }
                let answer = try await client.post("/v1/push", "nonsense", old)
                #expect(answer.status == 426 && answer.headers["content-type"] == "application/problem+json")
                let problem = try answer.json()
                #expect(problem["code"]?.text == "upgrade-required" && problem["retry"]?.bool == true)
                #expect(problem["minimum"]?.text == "3.2" && problem["message"]?.text == "Please update “Shop”.")
                #expect(problem["link"]?.text == "https://example.com/get")
                #expect(try await client.get("/healthz", old).status == 200)
            }
        }
    }
}
