import Foundation
import Operations
import Testing
import TestSupport

/// Connections that begin with a header of the PROXY protocol.
@Suite(.timeLimit(.minutes(2))) struct ProxyConnectionTests {
    /// Version 1 with the client 192.0.2.7, with the escapes of Python.
    private static let line = #"PROXY TCP4 192.0.2.7 10.0.0.5 54321 8080\r\n"#
    /// Version 2 with the client 192.0.2.8.
    private static let block = #"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0C\xC0\0\x02\x08\x0A\0\0\x05\xD4\x31\x1F\x90"#

    private static func gateway(_ options: [String]) async throws -> GatewayProcess {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        return try await GatewayProcess(database, rules: MergeTests.rules, options: options)
    }

    /// Sends a start and then requests on one connection, and returns all answers.
    ///
    /// - Parameters:
    ///   - start: the content of a bytes literal of Python.
    ///   - by: `whole`, or `bytes` for a packet for each byte of the start.
    ///   - authority: the certificate of the gateway; empty for plain HTTP.
    private static func exchange(
        _ gateway: GatewayProcess, _ start: String, device: String, forwarded: String? = nil, by: String = "whole",
        authority: String = ""
    ) async throws -> String {
        let script = """
            import socket, ssl, sys
            client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            start = eval("b'" + sys.argv[2] + "'")
            pieces = [start[n : n + 1] for n in range(len(start))] if sys.argv[3] == "bytes" else [start]
            head = sys.stdin.buffer.read().replace(b"\\n", b"\\r\\n")
            try:
                if not sys.argv[4]:
                    for piece in pieces: client.sendall(piece)
                else:
                    client.sendall(start)
                    context = ssl.create_default_context(cafile=sys.argv[4])
                    client = context.wrap_socket(client, server_hostname="localhost")
                client.sendall(head)
                while piece := client.recv(65536): sys.stdout.buffer.write(piece)
            except (ConnectionError, ssl.SSLError, TimeoutError) as error:
                print("broken", type(error).__name__)
            """
        let first = "GET /v1/records/people/77 HTTP/1.1\nHost: localhost\nX-Device-ID: \(device)\n"
        let request = first + (forwarded.map { "X-Forwarded-For: \($0)\n" } ?? "") + "Connection: close\n\n"
        return try await Shell.run(
            [
                "python3", "-c", script, String(gateway.port), start, by, authority,
            ], input: request)
    }

    private static func address(_ gateway: GatewayProcess, device: String) async throws -> String? {
        let line = try #require(await gateway.line(containing: "device=\"\(device)\""))
        return line.firstMatch(of: /\ from=(\S+)/).map { String($0.output.1) }
    }

    @Test("A trusted balancer names the client in either version, in any pieces")
    func trusted() async throws {
        let gateway = try await Self.gateway(["--trusted-proxy", "127.0.0.1"])
        for (start, device, client) in [
            (Self.line, "line", "192.0.2.7"), (Self.block, "block", "192.0.2.8"), ("", "none", "127.0.0.1"),
            (#"PROXY UNKNOWN\r\n"#, "unknown", "127.0.0.1"),
        ] {
            for by in ["whole", "bytes"] {
                let text = try await Self.exchange(gateway, start, device: device + by, by: by)
                #expect(text.hasPrefix("HTTP/1.1 404"), "\(device) \(by): \(text)")
                #expect(try await Self.address(gateway, device: device + by) == client, "\(device) \(by)")
            }
        }
    }

    @Test("A client behind a balancer cannot forge its address")
    func forwarded() async throws {
        let gateway = try await Self.gateway(["--trusted-proxy", "127.0.0.1", "--trusted-proxy", "192.0.2.8"])
        for (start, device, client) in [
            (Self.line, "d1", "192.0.2.7"), (#"PROXY UNKNOWN\r\n"#, "d2", "127.0.0.1"),
            // The balancer's client is itself a proxy with X-Forwarded-For.
            (Self.block, "d3", "198.51.100.1"), ("", "d4", "198.51.100.1"),
        ] {
            _ = try await Self.exchange(gateway, start, device: device, forwarded: "198.51.100.1")
            #expect(try await Self.address(gateway, device: device) == client, "\(device)")
        }
        // A second header is a part of the request.
        let twice = try await Self.exchange(gateway, Self.line + Self.line, device: "d5")
        #expect(twice.hasPrefix("HTTP/1.1 400"), "\(twice)")
    }

    @Test(
        "A header from another address is refused, and the log has the reason",
        arguments: [[], ["--trusted-proxy", "10.0.0.5"]], [line, block])
    func untrusted(_ options: [String], _ start: String) async throws {
        let gateway = try await Self.gateway(options)
        let text = try await Self.exchange(gateway, start, device: "phone")
        #expect(text.hasPrefix("HTTP/1.1 400") && text.contains("no --trusted-proxy names its address"), "\(text)")
        #expect(text.components(separatedBy: "HTTP/1.1").count == 2, "one answer: \(text)")
        let line = try #require(await gateway.line(containing: "connection refused"))
        #expect(line.contains(" notice ") && line.contains(#"from="127.0.0.1""#), "\(line)")
        #expect(!gateway.log.contains("phone"))
    }

    @Test("A malformed header of a trusted balancer is refused")
    func malformed() async throws {
        let gateway = try await Self.gateway(["--trusted-proxy", "127.0.0.1"])
        let text = try await Self.exchange(gateway, #"PROXY TCP4 client balancer 1 2\r\n"#, device: "phone")
        #expect(text.hasPrefix("HTTP/1.1 400") && text.contains("PROXY protocol cannot be read"), "\(text)")
        #expect(await gateway.line(containing: "connection refused") != nil)
        #expect(!gateway.log.contains("phone"))
    }

    @Test("The header precedes TLS, and is refused there too")
    func encrypted() async throws {
        let folder = try TemporaryFolder()
        try await TLSTests.makeCertificate(in: folder.path)
        let options = ["--tls-certificate", folder.path + "/server.pem", "--tls-key", folder.path + "/server.key"]
        let authority = folder.path + "/server.pem"
        let trusting = try await Self.gateway(options + ["--trusted-proxy", "127.0.0.1"])
        for (start, device, client) in [(Self.line, "d1", "192.0.2.7"), ("", "d2", "127.0.0.1")] {
            let text = try await Self.exchange(trusting, start, device: device, authority: authority)
            #expect(text.hasPrefix("HTTP/1.1 404"), "\(device): \(text)")
            #expect(try await Self.address(trusting, device: device) == client)
        }
        let other = try await Self.gateway(options)
        let text = try await Self.exchange(other, Self.line, device: "d3", authority: authority)
        #expect(text.hasPrefix("broken"), "\(text)")
        #expect(await other.line(containing: "connection refused") != nil)
    }

    @Test("A settings file and the environment may name several proxies")
    func settings() async throws {
        let folder = try TemporaryFolder(files: ["s.yaml": "trusted-proxy:\n  - 10.0.0.5\n  - 127.0.0.1\n"])
        let gateway = try await Self.gateway(["--config", folder.path + "/s.yaml"])
        _ = try await Self.exchange(gateway, Self.line, device: "d1")
        #expect(try await Self.address(gateway, device: "d1") == "192.0.2.7")
    }
}
