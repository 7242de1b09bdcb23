import Foundation
import MergeWire
import Operations
import Testing
import TestSupport

@testable import Gateway

/// HTTP/1.1 as clients use it on one connection.
@Suite struct ConnectionTests {
    /// Sends bytes over a new connection and prints the answer until the connection is closed.
    ///
    /// - Parameter isHalfClosed: the client closes its sending side after the bytes.
    private static func exchange(
        _ gateway: RunningGateway, _ bytes: String, isHalfClosed: Bool = false
    ) async throws -> String {
        let script = """
            import socket, sys
            client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            client.sendall(sys.stdin.buffer.read())
            if sys.argv[2] == "yes": client.shutdown(socket.SHUT_WR)
            while piece := client.recv(65536): sys.stdout.buffer.write(piece)
            """
        return try await Shell.run(
            ["python3", "-c", script, String(gateway.port), isHalfClosed ? "yes" : "no"], input: bytes)
    }

    private static func with(
        _ configure: (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await Ledger.database(.sqlite)
        try await RunningGateway.with(database, rules: Ledger.rules, configure: configure, body)
    }

    private static func statuses(_ text: String) -> [String] {
        text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
    }

    private static let get = "GET /v1/records/accounts/1 HTTP/1.1\r\nHost: localhost\r\n"
    private static func post(_ body: String, _ more: String = "") -> String {
        "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(more)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A body that was refused before its arrival has a time limit; then the connection is closed.
    @Test("The gateway waits only briefly for the rest of a refused body")
    func refusedBody() async throws {
        try await Self.with {
            $0.headSeconds = 1
            $0.idleSeconds = 600
        } _: { gateway async throws in
            let text = try await Self.exchange(
                gateway,
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 900000000\r\n\r\n")
            #expect(Self.statuses(text) == ["413"])
        }
    }

    /// Requests that are sent ahead are answered in their order.
    @Test("Requests can be pipelined")
    func pipelining() async throws {
        try await Self.with { gateway async throws in
            let edit = Ledger.Push(label: "a", account: 1, points: 5).body()
            let text = try await Self.exchange(
                gateway,
                Self.get + "\r\n" + Self.post(edit) + Self.get + "\r\n"
                    + "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + Self.get + "Connection: close\r\n\r\n")
            #expect(Self.statuses(text) == ["200", "200", "200", "404", "200"])
            let bodies = text.split(separator: "HTTP/1.1 ")
            #expect(bodies.first?.contains("\"points\":0") == true, "\(text)")
            #expect(bodies.last?.contains("\"points\":5") == true, "\(text)")
        }
    }

    @Test("Requests before invalid bytes are answered first, and nothing after a last request")
    func pipelinedGarbage() async throws {
        try await Self.with { gateway async throws in
            let edit = Ledger.Push(label: "b", account: 2, points: 7).body()
            let broken = try await Self.exchange(gateway, Self.post(edit) + Self.get + "\r\n" + "HELO there\r\n\r\n")
            #expect(Self.statuses(broken) == ["200", "200", "400"], "\(broken)")
            let last = try await Self.exchange(
                gateway, Self.get + "Connection: close\r\n\r\n" + Self.get + "\r\n" + Self.get + "\r\n")
            #expect(Self.statuses(last) == ["200"], "\(last)")
            let large = String(repeating: "x", count: 70_000)
            let ahead = try await Self.exchange(
                gateway, Self.get + "\r\n" + Self.post(large) + Self.get + "Connection: close\r\n\r\n")
            #expect(Self.statuses(ahead) == ["200", "400", "200"], "\(ahead.prefix(2_000))")
        }
    }

    /// Several headers of one name are one list.
    @Test("Headers with one name are one list")
    func repeatedHeaders() async throws {
        try await Self.with { gateway async throws in
            let head = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept-Encoding: br\r\n"
            let plain = try await Self.exchange(gateway, head + "\r\n")
            #expect(!plain.lowercased().contains("content-encoding: gzip"))
            let script = "import socket, sys\n" + Self.headOnly
            let packed = try await Shell.run(
                ["python3", "-c", script, String(gateway.port)], input: head + "aCCept-enCoding: gzip\r\n\r\n")
            #expect(packed.lowercased().contains("content-encoding: gzip"), "\(packed)")
        }
    }

    /// Prints the head of an answer whose body is no text.
    private static let headOnly = """
        client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        client.sendall(sys.stdin.buffer.read())
        text = b""
        while piece := client.recv(65536): text += piece
        print(text.split(b"\\r\\n\\r\\n")[0].decode())
        """

    @Test("A client that closes its sending side gets the answer")
    func halfClosed() async throws {
        try await Self.with { gateway async throws in
            #expect(Self.statuses(try await Self.exchange(gateway, Self.get + "\r\n", isHalfClosed: true)) == ["200"])
            let half = Self.post(Ledger.Push(label: "h", account: 1, points: 1).body()).dropLast(10)
            #expect(Self.statuses(try await Self.exchange(gateway, String(half), isHalfClosed: true)) == ["400"])
            #expect(try await Self.exchange(gateway, "", isHalfClosed: true) == "")
        }
    }

    @Test("Bytes that are not HTTP are refused")
    func noHTTP() async throws {
        try await Self.with { gateway async throws in
            #expect(Self.statuses(try await Self.exchange(gateway, "HELO there\r\n\r\n")) == ["400"])
            let both =
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            #expect(Self.statuses(try await Self.exchange(gateway, both)) == ["400"])
        }
    }

    /// Some proxies send it so.
    @Test("The target of a request may be an absolute URL")
    func absoluteTarget() async throws {
        try await Self.with { gateway async throws in
            let whole =
                "GET http://example.org/v1/records/accounts/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            #expect(Self.statuses(try await Self.exchange(gateway, whole)) == ["200"])
        }
    }

    @Test("A body with a too large length is refused at once, a body without length at the limit")
    func longBodies() async throws {
        try await Self.with {
            $0.wire.bodyBytes = 1_000
        } _: { gateway async throws in
            let said =
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + "Content-Length: 5000000\r\n\r\n{"
            #expect(Self.statuses(try await Self.exchange(gateway, said)) == ["413"])
            let piece = "400\r\n" + String(repeating: " ", count: 1_024) + "\r\n"
            let found =
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + piece + piece + "0\r\n\r\n" + Self.get + "Connection: close\r\n\r\n"
            // The gateway skips the rest of the body, and the connection remains usable.
            #expect(Self.statuses(try await Self.exchange(gateway, found)) == ["413", "200"])
        }
    }

    /// Without a token the limit of a body is small.
    @Test("A client without a token can send only a small body")
    func withoutToken() async throws {
        let database = try await Ledger.database(.sqlite)
        let token = AccessToken.make()
        let line = token.line(name: "phone", rights: [.read, .write])
        try await RunningGateway.with(database, rules: Ledger.rules, tokens: line) { gateway async throws in
            func head(_ token: String) -> String {
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
                    + "Connection: close\r\n"
            }
            let said = "Content-Length: 100000\r\n\r\n"
            #expect(Self.statuses(try await Self.exchange(gateway, head("nobody") + said + "{")) == ["401"])
            let piece = "400\r\n" + String(repeating: " ", count: 1_024) + "\r\n"
            let found = "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: piece, count: 100)
            #expect(Self.statuses(try await Self.exchange(gateway, head("nobody") + found)) == ["401"])
            let body = Ledger.Push(label: "p", account: 1, points: 2).body()
            let whole = said + body + String(repeating: " ", count: 100_000 - body.utf8.count)
            #expect(Self.statuses(try await Self.exchange(gateway, head(token.secret) + whole)) == ["200"])
        }
    }

    @Test("HTTP/1.0 gets no chunks, and closes the connection unless asked otherwise")
    func oldHTTP() async throws {
        try await Self.with { gateway async throws in
            let rows = (4...600).map { "(\($0), 'n\($0)')" }.joined(separator: ",")
            try await gateway.database.run("INSERT INTO accounts (id, name) VALUES \(rows);")
            let get = "GET /v1/records/accounts?limit=500 HTTP/1.0\r\n"
            let text = try await Self.exchange(gateway, get + "\r\n")
            #expect(text.hasPrefix("HTTP/1.0 200"))
            #expect(text.lowercased().contains("content-length: ") && !text.contains("chunked"))
            #expect(text.hasSuffix("\"next\":\"500\"}"))
            let kept = try await Self.exchange(
                gateway, "GET /v1/records/accounts/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get + "\r\n")
            #expect(kept.split(separator: "HTTP/1.0 200").count == 2)
            #expect(kept.contains("keep-alive"))
        }
    }

    @Test("HEAD has no body")
    func head() async throws {
        try await Self.with { gateway async throws in
            let text = try await Self.exchange(
                gateway,
                "HEAD /v1/records/accounts/1 HTTP/1.1\r\nHost: localhost\r\n\r\n" + Self.get
                    + "Connection: close\r\n\r\n")
            #expect(text.components(separatedBy: "\r\n\r\n")[1].hasPrefix("HTTP/1.1 200"))
        }
    }

    /// A client may wait with a body until it is wanted.
    @Test("Expect: 100-continue is answered")
    func expectContinue() async throws {
        try await Self.with { gateway async throws in
            let body = Ledger.Push(label: "e", account: 1, points: 2).body()
            let text = try await Self.exchange(
                gateway, Self.post(body, "Expect: 100-continue\r\nConnection: close\r\n"))
            #expect(Self.statuses(text) == ["100", "200"])
        }
    }

    /// Many large answers wait for a client that reads none of them; later each arrives completely.
    @Test("The gateway waits for a slow client")
    func slowClient() async throws {
        try await Self.with { gateway async throws in
            let rows = (4...500).map { "(\($0), 'n\($0)')" }.joined(separator: ",")
            try await gateway.database.run("INSERT INTO accounts (id, name) VALUES \(rows);")
            let page = "GET /v1/records/accounts?limit=128 HTTP/1.1\r\nHost: localhost\r\n"
            let text = try await Self.exchange(
                gateway, String(repeating: page + "\r\n", count: 300) + page + "Connection: close\r\n\r\n",
                isHalfClosed: true)
            #expect(Self.statuses(text).count == 301)
            #expect(text.components(separatedBy: "\"next\":\"128\"}").count == 302)
        }
    }

    /// A body in pieces is one body.
    @Test("A body may be chunked")
    func chunkedBody() async throws {
        try await Self.with { gateway async throws in
            let body = Array(Ledger.Push(label: "p", account: 1, points: 2).body().utf8)
            var pieces = ""
            for start in stride(from: 0, to: body.count, by: 50) {
                let piece = body[start..<min(start + 50, body.count)]
                pieces += String(piece.count, radix: 16) + "\r\n" + String(decoding: piece, as: UTF8.self) + "\r\n"
            }
            let text = try await Self.exchange(
                gateway,
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n" + pieces + "0\r\n\r\n")
            #expect(Self.statuses(text) == ["200"])
            #expect(text.contains("\"points\":2"))
        }
    }

    @Test("An idle connection is closed")
    func idle() async throws {
        try await Self.with {
            $0.idleSeconds = 1
        } _: { gateway async throws in
            #expect(Self.statuses(try await Self.exchange(gateway, Self.get + "\r\n")) == ["200"])
            #expect(try await Self.exchange(gateway, "GET /v1/rec") == "")
        }
    }

    @Test(
        "Dates have the format of HTTP",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        ])
    func dates(_ second: Int, _ text: String) {
        #expect(HTTPDate.text(second) == text)
    }
}
