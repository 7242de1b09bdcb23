import Operations
import Testing
import TestSupport

@testable import Gateway

/// The operators' console: its files, and the rights of its requests.
@Suite struct ConsoleTests {
    private static let console = ["X-Console": "1"]
    private static let own = ["X-Console": "1", "Origin": "http://localhost"]

    private static func with(
        _ mode: ConsoleMode, _ kind: TestEngine = .sqlite, rights: Set<AccessRight> = [.read, .write, .operate],
        _ body: @escaping @Sendable (HTTPClient.Session, _ anonymous: HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        let token = AccessToken.make()
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: token.line(name: "ann", rights: rights), journal: .together,
            configure: { $0.console = mode }
        ) { gateway async throws in
            try await gateway.client { anonymous in
                try await gateway.client(token: token.secret) { try await body($0, anonymous) }
            }
        }
    }

    @Test("The files need no token, and may load nothing from elsewhere")
    func files() async throws {
        try await Self.with(.readOnly) { _, client async throws in
            let page = try await client.get("/console/")
            #expect(page.status == 200 && page.text.contains("<title>"))
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            let policy = try #require(page.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
            #expect(!policy.contains("unsafe"))
            #expect(page.headers["x-content-type-options"] == "nosniff")
            #expect(page.headers["referrer-policy"] == "no-referrer")
            let tag = try #require(page.headers["etag"])
            let same = try await client.get("/console/index.html?page=conflicts", ["If-None-Match": tag])
            #expect(same.status == 304 && same.body.isEmpty)
            let redirect = try await client.get("/console?page=conflicts")
            #expect(redirect.status == 308 && redirect.headers["location"] == "/console/?page=conflicts")
            #expect(try await client.get("/console/ConsoleFiles.swift").status == 404)
            #expect(try await client.get("/console/..%2findex.html").status == 404)
            #expect(try await client.get("/v1/operations/console").status == 401)
        }
    }

    @Test("Without --console there are no files and no address")
    func off() async throws {
        try await Self.with(.off) { client, _ async throws in
            for path in ["/console", "/console/", "/console/index.html", "/v1/operations/console"] {
                #expect(try await client.get(path).status == 404, "\(path)")
            }
        }
    }

    @Test("An operator reads the mode", arguments: [ConsoleMode.readOnly, .full])
    func mode(_ mode: ConsoleMode) async throws {
        try await Self.with(mode) { client, _ async throws in
            let state = try await client.get("/v1/operations/console").json()
            #expect(state["mode"]?.text == mode.rawValue && state["version"]?.text == ProgramVersion.text)
        }
        try await Self.with(mode, rights: [.read, .write]) { client, _ async throws in
            #expect(try await client.get("/v1/operations/console").status == 403)
        }
    }

    /// Requests that change nothing, although their method is POST.
    private static let reading: Set<String> = ["/v1/operations/explain", "/v1/operations/rehearse"]

    @Test("A console that only reads can use no address that writes", arguments: [ConsoleMode.off, .readOnly])
    func readOnly(_ mode: ConsoleMode) async throws {
        try await Self.with(mode) { client, _ async throws in
            let paths = try #require(try await client.get("/openapi.json").json()["paths"]).object
            var count = 0
            for (path, item) in paths where item["post"] != nil && !Self.reading.contains(path) {
                let path = path.replacing("{number}", with: "1").replacing("{resource}", with: "people")
                // A console token has no right to request tokens.
                if path == "/v1/token" { continue }
                let answer = try await client.post(path, "{}", Self.own)
                #expect(try answer.json()["code"]?.text == "console-read-only", "\(path) \(answer.text)")
                count += 1
            }
            #expect(count >= 5)
        }
    }

    private static let edit = JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#)

    @Test("A console that only reads may preview, and other programs may write", arguments: TestEngine.allCases)
    func preview(_ kind: TestEngine) async throws {
        try await Self.with(.readOnly, kind) { client, _ async throws in
            #expect(try await client.post("/v1/merge/people", Self.edit).status == 200)
            #expect(try await client.get("/v1/journal", Self.console).status == 200)
            let preview = try await client.post("/v1/journal/1/undo?preview=true", "{}", Self.console)
            #expect(preview.status == 200, "\(preview.text)")
            let refused = try await client.post("/v1/journal/1/undo?preview=false", "{}", Self.own)
            #expect(refused.status == 403)
            #expect(try await client.post("/v1/journal/1/undo", "{}").status == 200)
        }
    }

    @Test("A console may write only from its own origin", arguments: TestEngine.allCases)
    func origin(_ kind: TestEngine) async throws {
        try await Self.with(.full, kind) { client, _ async throws in
            #expect(try await client.post("/v1/merge/people", Self.edit).status == 200)
            for origin in [
                nil, "null", "http://elsewhere", "http://localhost:81", "http://localhost.elsewhere", "localhost",
            ] {
                let headers = origin.map { ["X-Console": "1", "Origin": $0] } ?? Self.console
                let refused = try await client.post("/v1/journal/1/undo", "{}", headers)
                #expect(refused.status == 403, "\(origin ?? "")")
                #expect(try refused.json()["code"]?.text == "strange-origin", "\(origin ?? "")")
            }
            #expect(try await client.post("/v1/journal/1/undo", "{}", Self.own).status == 200)
        }
    }

    @Test("Origin and Host name the same host and port")
    func sameHost() {
        let cases: [(origin: String?, host: String?, isOwn: Bool)] = [
            ("https://a.example", "a.example", true), ("HTTPS://A.example", "a.EXAMPLE", true),
            ("http://[::1]:8080", "[::1]:8080", true), ("https://a.example:8443", "a.example", false),
            ("ftp://a.example", "a.example", false), ("https://a.example", nil, false), (nil, "a.example", false),
            ("null", "null", false), ("https://a.example, https://a.example", "a.example", false),
        ]
        for (origin, host, isOwn) in cases {
            #expect(ConsoleGuard.isOwn(origin, host: host) == isOwn, "\(origin ?? "-") \(host ?? "-")")
        }
    }
}
