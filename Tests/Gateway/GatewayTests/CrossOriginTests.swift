import Logging
import MergeCore
import MergeService
import MergeWire
import NIOHTTP1
import Operations
import Testing
import TestSupport

@testable import Gateway

/// A foreign web page cannot use a gateway without tokens, and no request has two meanings.
@Suite struct CrossOriginTests {
    private static func check(
        _ headers: HTTPHeaders, origins: [String] = [], host: String = "127.0.0.1"
    ) throws -> String? {
        let pages = PageGuard(origins: try origins.map { try WebOrigin($0) }, host: host)
        do {
            try pages.check(RequestHeaders(headers))
            return nil
        } catch {
            #expect(ProblemHead(error).status == 403)
            return error.code.rawValue
        }
    }

    @Test(
        "Names of this machine are accepted",
        arguments: [
            "localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "127.9.8.7", "[::1]",
            "[::1]:8080",
        ])
    func ownNames(_ host: String) throws {
        #expect(try Self.check(["Host": host]) == nil)
    }

    @Test(
        "Other names are refused",
        arguments: [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8080", "", "127.0.0",
            "[::2]",
            "localhost:", "localhost:80x", "[::1]x", "[::1", "128.0.0.1", "127.0.0.256", "::1", "localh\u{F6}st",
        ])
    func otherNames(_ host: String) throws {
        // The port after the colon may be missing.
        #expect(try Self.check(["Host": host]) == (host == "localhost:" ? nil : "strange-host"))
    }

    @Test("Pages of foreign origins are refused")
    func foreignPages() throws {
        func code(_ more: HTTPHeaders) throws -> String? {
            var headers = more
            headers.add(name: "Host", value: "localhost:8080")
            return try Self.check(headers, origins: ["https://app.example.com"])
        }
        #expect(try code([:]) == nil, "a program")
        #expect(try code(["Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site"]) == nil, "allowed")
        #expect(try code(["Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"]) == nil, "its own page")
        #expect(try code(["Sec-Fetch-Site": "none"]) == nil, "typed by a person")
        for origin in [
            "https://evil.example", "null", "http://localhost:3000", "http://localhost", "https://app.example.com.evil",
            "https://app.example.com, https://evil.example",
        ] { #expect(try code(["Origin": origin]) == "strange-origin", "\(origin)") }
        for site in ["cross-site", "same-site", "x"] {
            #expect(try code(["Sec-Fetch-Site": site]) == "strange-origin", "\(site)")
        }
        #expect(try Self.check(["Host": "shop.internal:80"], host: "shop.internal") == nil)
    }

    /// No browser sends a request of another origin with this media type unasked.
    @Test("A request that changes something needs a body or a token")
    func changes() async throws {
        let database = try await JournalTests.database(.sqlite)
        let token = AccessToken.make()
        for line in [nil, token.line(name: "page", rights: [.read, .write, .operate])] {
            try await RunningGateway.with(database, rules: JournalTests.rules, tokens: line, journal: .together) {
                gateway async throws in
                try await gateway.client(token: line == nil ? nil : token.secret) { client async throws in
                    let bare = try await client.send(.post, "/v1/journal/999/undo", [:], [])
                    #expect(bare.status == (line == nil ? 415 : 404), "\(bare.text)")
                    let typed = try await client.post("/v1/journal/999/undo", "{}")
                    #expect(typed.status == 404)
                    let form = try await client.post("/v1/push", "{}", ["Content-Type": "text/plain"])
                    #expect(form.status == 415)
                    let page = try await client.get("/v1/rules", ["Origin": "https://evil.example"])
                    #expect(page.status == (line == nil ? 403 : 200), "a token is proof enough")
                }
            }
        }
    }

    private static func problem(_ headers: HTTPHeaders, uri: String = "/", _ version: HTTPVersion = .http1_1) -> Int? {
        let head = HTTPRequestHead(version: version, method: .POST, uri: uri, headers: headers)
        return HeadFault.problem(ReceivedHead(head, at: .now)).map { ProblemHead($0).status }
    }

    @Test("An ambiguous head is refused")
    func ambiguousHeads() {
        #expect(Self.problem(["Host": "a"]) == nil)
        #expect(Self.problem([:]) == 400)
        #expect(Self.problem([:], .http1_0) == nil)
        #expect(Self.problem(["Host": "a", "host": "b"]) == 400)
        #expect(Self.problem(["Host": "a", "Transfer-Encoding": "Chunked"]) == nil)
        #expect(Self.problem(["Host": "a", "Transfer-Encoding": "gzip, chunked"]) == 501)
        #expect(Self.problem(["Host": "a", "Transfer-Encoding": "identity"]) == 501)
        #expect(Self.problem(["Host": "a"], uri: "/caf\u{E9}") == 400)
    }

    @Test(
        "Texts of a request are quoted, so that a line of the log remains one line",
        arguments: [
            ("/v1/merge/people", "\"/v1/merge/people\""), ("", "\"\""), ("a b", "\"a b\""),
            ("a\"b", "\"a\\\"b\""), ("a\\b", "\"a\\\\b\""), ("a\nb", "\"a\\nb\""), ("a\u{7F}b", "\"a\\u007fb\""),
            ("\u{202E}x", "\"\\u202ex\""), ("é", "\"é\""),
        ])
    func quotedInLog(_ text: String, _ line: String) {
        #expect(QuotedText.of(text) == line)
    }

    @Test("Names of headers are compared without case")
    func headerCase() {
        let headers = RequestHeaders([
            "Content-Type": "a", "IDEMPOTENCY-KEY": "b", "x-client": "caf\u{E9}", "X-List": "1", "x-list": "2",
            "X[Client": "d", "x-blank": "e f \t", "x-none-left": " ",
        ])
        #expect(headers["content-type"] == "a" && headers.text("idempotency-key") == "b")
        #expect(headers.text("x-client") == "caf\u{E9}" && headers["x-client"] == "caf??")
        #expect(headers.text("x-list") == "1, 2" && headers.count("x-list") == 2)
        // A letter's case is one bit. Other characters that differ in that bit are different.
        #expect(headers.text("x{client") == nil && headers.text("x[client") == "d" && headers.count("x-none") == 0)
        // Blanks after a value are not part of it (RFC 9110 section 5.5).
        #expect(headers.text("x-blank") == "e f" && headers.text("x-none-left") == "")
    }

    @Test(
        "A token follows its scheme",
        arguments: [
            ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER   abc  ", "abc"), ("Bearer ", ""), ("Bearer", nil),
            ("Basic abc", nil), ("Bearer caf\u{E9}", nil), ("", nil),
        ] as [(String, String?)])
    func scheme(_ header: String, _ token: String?) {
        #expect(AuthorizationHeader.token(in: header) == token)
    }

    /// Two keys that differ only in invalid bytes would be equal when decoded.
    @Test("An idempotency key has to be valid UTF-8")
    func invalidKeys() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            func status(_ header: String, _ byte: UInt8) async throws -> String {
                let script = """
                    import socket, sys
                    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                    body = b'{"edits":[]}'
                    client.sendall(b"POST /v1/push HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n"
                        + b"Content-Type: application/json\\r\\n" + sys.argv[2].encode() + b": k"
                        + bytes([int(sys.argv[3])]) + b"\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
                    print(client.recv(65536).decode()[9:12])
                    """
                return try await Shell.run(
                    ["python3", "-c", script, String(gateway.port), header, String(byte)], input: "")
            }
            for header in ["Idempotency-Key", "X-Device-ID"] {
                #expect(try await status(header, 0x78) == "200\n")
                #expect(try await status(header, 0xFF) == "400\n")
            }
        }
    }

    @Test("A long path is shortened in the log")
    func longPath() {
        #expect(GatewayResponder.short("/v1/push") == "/v1/push")
        let long = GatewayResponder.short("/" + String(repeating: "x", count: 60_000))
        #expect(long.utf8.count == 259 && long.hasSuffix("..."))
    }

    @Test("Many probes query the database once a second")
    func probes() async throws {
        let database = try await JournalTests.database(.sqlite)
        let watch = ReadinessWatch(
            MergeService.wire(try database.engine()), patience: .seconds(3), pendingFloor: { 0 }, active: { nil })
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { #expect(await watch.seen().fault == nil) } }
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(await watch.looks <= 1 + seconds)
    }
}
