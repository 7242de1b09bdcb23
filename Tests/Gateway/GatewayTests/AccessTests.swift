import MergeService
import MergeWire
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Tokens, limits, media types and missing records.
@Suite struct AccessTests {
    private static func database() async throws -> TestDatabase {
        try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
    }

    @Test("Only tokens permit access")
    func tokens() async throws {
        let writer = AccessToken.make()
        let reader = AccessToken.make()
        let file =
            writer.line(name: "w", rights: [.read, .write]) + "\n# readers\n" + reader.line(name: "r", rights: [.read])
        let edit = #"{"id":1,"changeset":{}}"#
        try await RunningGateway.with(try await Self.database(), rules: MergeTests.rules, tokens: file) {
            gateway async throws in
            try await gateway.client { client async throws in
                let answer = try await client.get("/v1/rules")
                #expect(answer.status == 401)
                #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(try await client.get("/healthz").status == 200)
                #expect(try await client.get("/readyz").status == 200)
                #expect(try await client.get("/nowhere").status == 401)
                // Each browser requests it, without a token.
                #expect(try await client.get("/favicon.ico").status == 404)
            }
            for (token, read, write) in [
                (writer.secret, 200, 200), (reader.secret, 200, 403), (writer.secret + "0", 401, 401), ("", 401, 401),
            ] {
                try await gateway.client(token: token) { client async throws in
                    #expect(try await client.get("/v1/rules").status == read)
                    #expect(try await client.post("/v1/merge/people", edit).status == write)
                }
            }
        }
    }

    /// An asynchronous verifier, like one with requests to another server.
    private struct RemoteVerifier: TokenVerifier {
        var trouble: String? { "the keys are old" }

        func bearer(of token: String) async throws(TokenRefusal) -> Bearer {
            await Task.yield()
            guard token == "known" else { throw .unknown }
            return Bearer(name: "someone", rights: [.read])
        }

        func seemsGood(_ token: String) -> Bool { token == "known" }
    }

    @Test("A verifier may be asynchronous")
    func asynchronousVerifier() async throws {
        try await RunningGateway.with(try await Self.database(), rules: MergeTests.rules, verifier: RemoteVerifier()) {
            gateway async throws in
            for (token, read, write) in [("known", 200, 403), ("unknown", 401, 401)] {
                try await gateway.client(token: token) { client async throws in
                    #expect(try await client.get("/v1/rules").status == read)
                    #expect(try await client.post("/v1/merge/people", "{}").status == write)
                    #expect(try await client.get("/readyz").text.contains("the keys are old"))
                }
            }
        }
    }

    @Test("Each error of a tokens file has its line")
    func tokensFile() throws {
        let line = AccessToken.make().line(name: "a", rights: [.read])
        #expect(throws: TokenFileError.self) { try TokenFile(text: "", path: "f") }
        #expect(throws: TokenFileError.self) { try TokenFile(text: "a read sha256:00", path: "f") }
        #expect(throws: TokenFileError.self) { try TokenFile(text: line + "\n" + line, path: "f") }
        #expect(throws: TokenFileError.self) { try TokenFile(text: line.replacing("read", with: "rule"), path: "f") }
        func fault(_ text: String) -> String? {
            do {
                _ = try TokenFile(text: text, path: "f")
                return nil
            } catch {
                return error.description
            }
        }
        #expect(fault("\u{FEFF}" + line)?.hasPrefix("f:1: ") == true, "a byte-order mark is no part of a name")
        #expect(fault("# one\n" + line.replacing("read", with: ","))?.hasPrefix("f:2: ") == true, "no rights")
        let twin = line + "\n" + line.replacing("a read", with: "b read")
        #expect(fault(twin)?.contains("f:2: the token of “b” is that of “a”") == true)
        let token = AccessToken.make()
        let file = try TokenFile(text: token.line(name: "b", rights: [.read, .write]), path: "f")
        #expect(file.bearer(of: TokenDigest(token.secret))?.name == "b")
        #expect(!token.line(name: "b", rights: [.read]).contains(token.secret))
    }

    @Test("Limits apply")
    func limits() async throws {
        try await RunningGateway.with(
            try await Self.database(), rules: MergeTests.rules,
            configure: { configuration in
                configuration.wire.bodyBytes = 2_000
                configuration.wire.edits = 2
                configuration.wire.items = 3
                configuration.wire.depth = 8
                configuration.merge.pageSize = 1
                configuration.merge.rowsPerRecord = 1
            }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.post("/v1/push", String(repeating: " ", count: 3_000)).status == 413)
                let edit = #"{"resource":"people","id":2,"changeset":{}}"#
                #expect(try await client.post("/v1/push", "{\"edits\":[\(edit),\(edit),\(edit)]}").status == 413)
                let items = Array(repeating: #"{"old":null,"new":{"what":"x"}}"#, count: 4).joined(separator: ",")
                #expect(
                    try await client.post("/v1/merge/people", "{\"id\":2,\"changeset\":{\"items\":[\(items)]}}").status
                        == 413)
                #expect(try await client.post("/v1/push", String(repeating: "[", count: 9)).status == 400)
                #expect(try await client.get("/v1/records/people/1").status == 422, "record 1 has two items")
                #expect(try await client.get("/v1/records/people/2").status == 200)
                // The refused requests have left the connection usable.
                #expect(try await client.get("/healthz").status == 200)
            }
        }
    }

    @Test("Bodies may be packed with gzip in both directions")
    func packedBodies() async throws {
        try await RunningGateway.with(
            try await Self.database(), rules: MergeTests.rules, configure: { $0.wire.bodyBytes = 10_000 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let body = Array(#"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Eve"}}}}"#.utf8)
                let packed = try #require(Gzip.pack(body))
                let headers = ["Content-Type": "application/json", "Content-Encoding": "gzip"]
                let answer = try await client.send(.post, "/v1/merge/people", headers, packed)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try await client.send(.post, "/v1/merge/people", headers, body).status == 400)
                #expect(
                    try await client.send(.post, "/v1/merge/people", headers, Array(packed.dropLast())).status == 400)
                // Several members are one body (RFC 1952 section 2.2), and the coding has an older name.
                let halves = [body.prefix(20), body.dropFirst(20)].compactMap { Gzip.pack(Array($0)) }.flatMap(\.self)
                let older = headers.merging(["Content-Encoding": "x-gzip"]) { $1 }
                #expect(try await client.send(.post, "/v1/merge/people", older, halves).status == 200)
                #expect(try await client.send(.post, "/v1/merge/people", headers, halves + packed).status == 400)
                #expect(try await client.send(.post, "/v1/merge/people", headers, packed + [0]).status == 400)
                let bomb = try #require(Gzip.pack([UInt8](repeating: 32, count: 5_000_000)))
                #expect(try await client.send(.post, "/v1/merge/people", headers, bomb).status == 413)
                let plain = try await client.get("/v1/rules")
                let short = try await client.get("/v1/rules", ["Accept-Encoding": "br, gzip"])
                #expect(plain.headers["content-encoding"] == nil)
                #expect(short.headers["content-encoding"] == "gzip")
                let unpacked = try short.body.withUnsafeBytes { try Gzip.unpack($0, limit: 1_000_000) }
                #expect(unpacked == plain.body)
                #expect(
                    try await client.get("/v1/rules", ["Accept-Encoding": "gzip;q=0"]).headers["content-encoding"]
                        == nil)
            }
        }
    }

    @Test("A body with a raw NUL byte is not JSON, packed or not, and nothing is written")
    func rawNUL() async throws {
        try await RunningGateway.with(try await Self.database(), rules: MergeTests.rules, journal: .together) {
            gateway async throws in
            try await gateway.client { client async throws in
                let edit = "{\"id\":1,\"changeset\":{\"person\":{\"credit\":{\"old\":10.5,\"new\":12\0}}}}"
                let push = "{\"edits\":[{\"resource\":\"people\"," + edit.dropFirst() + "]}"
                let sound = try await client.post(
                    "/v1/merge/people", #"{"id":2,"changeset":{"person":{"name":{"old":"Bob","new":"Rob"}}}}"#)
                #expect(sound.status == 200)
                for (path, body) in [
                    ("/v1/merge/people", edit), ("/v1/push", push), ("/v1/journal/1/undo", "{\"groups\":null\0}"),
                    ("/v1/journal/1/undo", "{}\0"), ("/v1/push?preview=true", push),
                ] {
                    let plain = try await client.post(path, body)
                    let packedBody = try #require(Gzip.pack(Array(body.utf8)))
                    let packed = try await client.send(
                        .post, path, ["Content-Type": "application/json", "Content-Encoding": "gzip"],
                        packedBody)
                    for answer in [plain, packed] {
                        #expect(answer.status == 400, "\(path): \(answer.text)")
                        #expect(try answer.json()["code"]?.text == "not-json")
                    }
                }
                #expect(
                    try await gateway.database.run("SELECT name, credit FROM people ORDER BY id;")
                        == "Ann\t10.5\nRob\t20\n")
            }
        }
    }

    @Test("Unsupported media types, a missing journal and unknown addresses have different statuses")
    func refusals() async throws {
        try await RunningGateway.with(try await Self.database(), rules: MergeTests.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"id":1,"changeset":{}}"#
                #expect(try await client.post("/v1/merge/people", edit, ["Content-Type": "text/plain"]).status == 415)
                #expect(try await client.post("/v1/merge/people", edit, ["Content-Encoding": "br"]).status == 415)
                for path in ["/v1/journal", "/v1/journal/1"] { #expect(try await client.get(path).status == 501) }
                #expect(try await client.post("/v1/merge/nobody", edit).status == 404)
                #expect(try await client.get("/v2").status == 404)
            }
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("localhost", true), ("::1", true), ("0.0.0.0", false), ("127.evil.example", false),
    ])
    func loopback(_ host: String, _ isLoopback: Bool) {
        var configuration = GatewayConfiguration()
        configuration.host = host
        #expect(configuration.isLoopback == isLoopback)
    }
}
