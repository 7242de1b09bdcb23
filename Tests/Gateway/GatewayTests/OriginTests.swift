import Operations
import Testing
import TestSupport

@testable import Gateway

/// Web pages of other origins: which are allowed, and the headers for them.
@Suite(.serialized) struct OriginTests {
    @Test(
        "An origin is written as browsers write it",
        arguments: [
            ("https://app.example.com", "https://app.example.com"),
            ("HTTPS://App.Example.COM", "https://app.example.com"),
            ("https://app.example.com:443", "https://app.example.com"), ("http://localhost:80", "http://localhost"),
            ("https://app.example.com:8443", "https://app.example.com:8443"), ("http://a:443", "http://a:443"),
            ("http://localhost:05173", "http://localhost:5173"), ("http://192.168.0.7:3000", "http://192.168.0.7:3000"),
            ("http://[::1]:8080", "http://[::1]:8080"), ("http://[2001:DB8:0:0:1:0:0:1]", "http://[2001:db8::1:0:0:1]"),
            ("http://[::ffff:192.168.0.1]", "http://[::ffff:c0a8:1]"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
            ("http://3d-printer", "http://3d-printer"), ("http://my_host", "http://my_host"),
        ])
    func spelling(_ text: String, _ origin: String) throws {
        #expect(try WebOrigin(text).description == origin)
    }

    @Test(
        "Any other value is refused",
        arguments: [
            ("*", "name each origin"), ("null", "name each origin"), ("Null", "name each origin"),
            ("app.example.com", "http:// or https://"), ("//app.example.com", "http:// or https://"),
            ("", "http:// or https://"),
            ("ftp://app.example.com", "http:// or https://"), ("capacitor://localhost", "http:// or https://"),
            (" https://app.example.com", "http:// or https://"),
            ("https://app.example.com/", "leave the path out"), ("https://app.example.com/app", "leave the path out"),
            ("https://app.example.com?x", "leave the path out"), ("https://app.example.com#x", "leave the path out"),
            ("https://a.example,https://b.example", "more than one"), ("https://me@app.example.com", "names a user"),
            ("https://bücher.example", "xn--"), ("https://", "no host"), ("https://:443", "no host"),
            ("https://*.example.com", "no host"), ("https://app..example", "no host"),
            ("https://app.example.", "no host"),
            ("https://app.example.com:", "no port"), ("https://app.example.com:0", "no port"),
            ("https://app.example.com:65536", "no port"), ("https://app.example.com:x", "no port"),
            ("https://app.example.com:-1", "no port"), ("https://app example.com", "no host"),
            ("https://127.1", "no host"),
            ("https://256.0.0.1", "no host"), ("https://[::1", "no host"), ("https://[nonsense]", "no host"),
            ("https://::1", "no host"),
        ])
    func invalidOrigins(_ text: String, _ fault: String) {
        do {
            let origin = try WebOrigin(text)
            Issue.record("taken: \(origin)")
        } catch {
            #expect(error.description.contains(fault), "\(error)")
            #expect(error.description.contains("such as https://app.example.com"))
        }
    }

    private static func with(
        _ origins: [String], _ body: @escaping @Sendable (HTTPClient.Session) async throws -> Void
    ) async throws {
        let known = try origins.map { try WebOrigin($0) }
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let token = AccessToken.make()
        try await RunningGateway.with(
            database, rules: MergeTests.rules, tokens: token.line(name: "page", rights: [.read, .write]),
            configure: { $0.allowedOrigins = known }
        ) { gateway async throws in
            try await gateway.client(token: token.secret) { try await body($0) }
        }
    }

    @Test("The answer names the origin of an allowed page, and no origin for others")
    func allowedOrigins() async throws {
        let origins = ["https://app.example.com", "http://localhost:5173"]
        try await Self.with(origins) { client async throws in
            for origin in origins {
                for path in ["/v1/rules", "/healthz", "/nowhere", "/v1/rules?x=1", "/v1/records/people/99"] {
                    let answer = try await client.get(path, ["Origin": origin])
                    #expect(answer.headers["access-control-allow-origin"] == origin, "\(path)")
                    #expect(answer.headers["vary"]?.contains("Origin") == true)
                    for name in ["Date", "ETag"] {
                        #expect(answer.headers["access-control-expose-headers"]?.contains(name) == true)
                    }
                }
            }
            for other in [
                "https://evil.example", "null", "https://app.example.com.evil.example", "https://app.example.com:8443",
                "http://app.example.com", "https://app.example.com, http://localhost:5173",
            ] {
                for method in [HTTPClient.Method.get, .options] {
                    let answer = try await client.send(method, "/v1/rules", ["Origin": other], nil)
                    #expect(answer.headers.keys.filter { $0.hasPrefix("access-control-") }.isEmpty, "\(other)")
                    #expect(answer.headers["vary"]?.contains("Origin") == true)
                }
            }
            // A cache must not return this answer to a page.
            #expect(try await client.get("/v1/rules").headers["vary"] == "Accept-Encoding, Origin")
        }
    }

    /// A preflight carries no token, and is answered all the same.
    @Test func preflightsAreAnswered() async throws {
        try await Self.with(["https://app.example.com"]) { client async throws in
            let answer = try await client.send(
                .options, "/v1/push",
                [
                    "Origin": "https://app.example.com", "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "x-client", "Authorization": "none",
                ], nil)
            #expect(answer.status == 204)
            #expect(answer.headers["access-control-allow-origin"] == "https://app.example.com")
            #expect(answer.headers["access-control-allow-methods"] == "GET, HEAD, POST")
            let allowed = Set((answer.headers["access-control-allow-headers"] ?? "").split(separator: ", "))
            #expect(
                allowed == [
                    "Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-None-Match",
                    "Last-Event-ID", "X-Client", "X-Device-ID", "X-Who",
                ])
            #expect(answer.headers["vary"] == "Origin")
            #expect(try await client.get("/healthz").status == 200, "the connection goes on")
        }
    }

    @Test("Without allowed origins the answers have no such headers")
    func noOrigins() async throws {
        try await Self.with([]) { client async throws in
            let answer = try await client.get("/v1/rules", ["Origin": "https://app.example.com"])
            #expect(answer.headers.keys.filter { $0.hasPrefix("access-control-") }.isEmpty)
            #expect(answer.headers["vary"] == "Accept-Encoding")
            let asked = try await client.send(.options, "/v1/rules", ["Origin": "https://app.example.com"], nil)
            #expect(asked.status == 405)
        }
    }
}
