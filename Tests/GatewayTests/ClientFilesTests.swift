import Operations
import Testing
import TestSupport

@testable import Gateway

/// The client library that the gateway serves.
@Suite(.serialized) struct ClientFilesTests {
    private static func with(
        origins: [String] = [], _ body: @escaping @Sendable (HTTPClient.Session) async throws -> Void
    ) async throws {
        let known = try origins.map { try WebOrigin($0) }
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let token = AccessToken.make()
        try await RunningGateway.with(
            database, rules: MergeTests.rules, tokens: token.line(name: "page", rights: [.read, .write]),
            configure: { $0.allowedOrigins = known }
        ) { gateway async throws in try await gateway.client { try await body($0) } }
    }

    /// Nobody needs a token for it, and a browser runs it as it comes.
    @Test func everybodyIsServed() async throws {
        try await Self.with { client async throws in
            let module = try await client.get("/client/fieldmerge.js")
            #expect(module.status == 200)
            #expect(module.headers["content-type"] == "text/javascript; charset=utf-8")
            #expect(module.headers["cache-control"] == "public, no-cache")
            #expect(module.headers["x-content-type-options"] == "nosniff")
            #expect(module.text.contains("export const open = "))
            let types = try await client.get("/client/fieldmerge.d.ts")
            #expect(types.status == 200 && types.text.contains("export function open("))
            #expect(try await client.get("/v1/rules").status == 401, "the rest wants a token")
        }
    }

    /// Every module that one imports is there.
    @Test func theModulesAreComplete() async throws {
        try await Self.with { client async throws in
            var known: Set<String> = []
            var open = ["fieldmerge.js"]
            while let name = open.popLast() {
                guard known.insert(name).inserted else { continue }
                let answer = try await client.get("/client/" + name)
                #expect(answer.status == 200, "\(name)")
                for line in answer.text.split(separator: "\n") where line.hasPrefix("import ") {
                    let quoted = line.split(separator: "\"")
                    open.append(String(quoted[1].dropFirst(2)))
                }
                // And those that it loads where they are needed; files are for Node.
                for call in answer.text.split(separator: "import(\"./").dropFirst() {
                    let name = String(call.prefix { $0 != "\"" })
                    if name != "file.js" { open.append(name) }
                }
            }
            #expect(known.count > 5)
        }
    }

    /// A browser asks whether a module is still the one that it has.
    @Test func aFileIsNamedByItsContent() async throws {
        try await Self.with { client async throws in
            let tag = try #require(try await client.get("/client/store.js").headers["etag"])
            let same = try await client.get("/client/store.js", ["If-None-Match": tag])
            #expect(same.status == 304 && same.body.isEmpty)
            #expect(same.headers["etag"] == tag)
            #expect(try await client.get("/client/work.js").headers["etag"] != tag)
            #expect(try await client.get("/client/store.js", ["If-None-Match": "\"other\""]).status == 200)
        }
    }

    @Test(arguments: ["/client/nothing.js", "/client/..", "/client/%2e%2e", "/client/ClientFiles.swift", "/client/"])
    func nothingElseIsThere(_ path: String) async throws {
        try await Self.with { client async throws in #expect(try await client.get(path).status == 404) }
    }

    /// A page of another origin imports the modules, where the origin is allowed.
    @Test func pagesOfAllowedOriginsImportIt() async throws {
        try await Self.with(origins: ["https://app.example.com"]) { client async throws in
            let headers = ["Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site"]
            let answer = try await client.get("/client/fieldmerge.js", headers)
            #expect(answer.status == 200)
            #expect(answer.headers["access-control-allow-origin"] == "https://app.example.com")
        }
    }
}
