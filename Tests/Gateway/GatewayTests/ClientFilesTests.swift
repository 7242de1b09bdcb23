import Foundation
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

    /// Browsers load the modules without a token.
    @Test("The modules need no token")
    func withoutToken() async throws {
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

    @Test("Each imported module is served")
    func imports() async throws {
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
                // Also the modules that a function imports later. File modules are for Node.
                for call in answer.text.split(separator: "import(\"./").dropFirst() {
                    let name = String(call.prefix { $0 != "\"" })
                    if name != "file.js" { open.append(name) }
                }
            }
            #expect(known.count > 5)
        }
    }

    @Test("The ETag changes with the content of a file")
    func entityTag() async throws {
        try await Self.with { client async throws in
            let tag = try #require(try await client.get("/client/store.js").headers["etag"])
            let same = try await client.get("/client/store.js", ["If-None-Match": tag])
            #expect(same.status == 304 && same.body.isEmpty)
            #expect(same.headers["etag"] == tag)
            #expect(try await client.get("/client/work.js").headers["etag"] != tag)
            #expect(try await client.get("/client/store.js", ["If-None-Match": "\"other\""]).status == 200)
        }
    }

    @Test(
        "Other files are not served",
        arguments: ["/client/nothing.js", "/client/..", "/client/%2e%2e", "/client/ClientFiles.swift", "/client/"])
    func otherFiles(_ path: String) async throws {
        try await Self.with { client async throws in #expect(try await client.get(path).status == 404) }
    }

    // MARK: Versions

    private static func entry(_ client: HTTPClient.Session) async throws -> (text: String, version: String) {
        let text = try await client.get("/client/v1/fieldmerge.js").text
        let version = try #require(text.firstMatch(of: /export \* from "\.\/([0-9a-f]{32})\/fieldmerge\.js";/))
        return (text, String(version.1))
    }

    @Test("The entry names immutable modules, which import each other in their version")
    func versions() async throws {
        try await Self.with { client async throws in
            let (text, version) = try await Self.entry(client)
            let entry = try await client.get("/client/v1/fieldmerge.js")
            #expect(entry.headers["cache-control"] == "public, no-cache")
            #expect(entry.headers["content-type"] == "text/javascript; charset=utf-8")
            var known: Set<String> = []
            var open = ["fieldmerge.js", "fieldmerge-worker.js", "fieldmerge.d.ts"]
            while let name = open.popLast() {
                guard known.insert(name).inserted else { continue }
                let answer = try await client.get("/client/v1/\(version)/\(name)")
                #expect(answer.status == 200, "\(name)")
                #expect(answer.headers["cache-control"] == "public, max-age=31536000, immutable")
                #expect(answer.text == (try await client.get("/client/" + name).text))
                let imported = answer.text.matches(of: /(?:from |import\()"\.\/([^"]+)"/).map { String($0.1) }
                // The module for files is for Node.
                open += imported.filter { $0 != "file.js" }
                // The entry lets a page load all of them soon.
                #expect(name.hasPrefix("fieldmerge") || text.contains("\"\(name)\""), "\(name)")
            }
            #expect(known.count > 30)
            let worker = try await client.get("/client/v1/fieldmerge-worker.js").text
            #expect(worker.contains("export * from \"./\(version)/fieldmerge-worker.js\";"))
        }
    }

    @Test("The import map names the same modules")
    func importMap() async throws {
        try await Self.with { client async throws in
            let (_, version) = try await Self.entry(client)
            let map = try await client.get("/client/v1/importmap.json")
            #expect(map.headers["content-type"] == "application/importmap+json")
            let imports = try #require(
                try JSONDecoder().decode([String: [String: String]].self, from: Data(map.body))["imports"])
            #expect(imports["fieldmerge"] == "/client/v1/\(version)/fieldmerge.js" && imports.count == 2)
            for address in imports.values { #expect(try await client.get(address).status == 200, "\(address)") }
        }
    }

    @Test("The version follows from names and contents of all files")
    func digest() {
        func digest(_ modules: [(name: String, bytes: [UInt8])], _ declarations: [UInt8] = [1]) -> String {
            ClientLibrary(modules: modules, declarations: ("x.d.ts", declarations)).digest
        }
        let first = digest([("a.js", [1]), ("b.js", [2])])
        #expect(first == digest([("b.js", [2]), ("a.js", [1])]))
        let others = [
            digest([("a.js", [1]), ("b.js", [3])]), digest([("a.js", [2]), ("b.js", [1])]), digest([("a.js", [1])]),
            digest([("a.js", [1]), ("b.js", [2])], [2]), digest([("a.jsb.js", [1, 2])]),
        ]
        #expect(Set(others + [first]).count == 6)
    }

    @Test("Modules of another version are missing, with a hint")
    func anotherVersion() async throws {
        try await Self.with { client async throws in
            let answer = try await client.get("/client/v1/0123456789abcdef0123456789abcdef/store.js")
            #expect(answer.status == 404 && answer.text.contains("another version"))
            for path in ["/client/v1", "/client/v1/", "/client/v1/store.js", "/client/v1/fieldmerge.js/store.js"] {
                #expect(try await client.get(path).status == 404, "\(path)")
            }
        }
    }

    @Test("A page of an allowed origin can import the modules")
    func otherOrigins() async throws {
        try await Self.with(origins: ["https://app.example.com"]) { client async throws in
            let headers = ["Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site"]
            let answer = try await client.get("/client/fieldmerge.js", headers)
            #expect(answer.status == 200)
            #expect(answer.headers["access-control-allow-origin"] == "https://app.example.com")
        }
    }
}
