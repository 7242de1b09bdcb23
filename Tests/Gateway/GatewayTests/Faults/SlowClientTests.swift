import Testing
import TestSupport

/// Clients that send or read very slowly.
@Suite(.timeLimit(.minutes(2))) struct SlowClientTests {
    /// Sends bytes, then one more every tenth of a second until the connection is closed, and prints the answer and the
    /// seconds.
    private static let drip = """
        import select, socket, sys, time
        client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        start = time.monotonic()
        client.sendall(sys.stdin.buffer.read())
        text = b""
        while True:
            if select.select([client], [], [], 0.1)[0]:
                try: piece = client.recv(65536)
                except ConnectionError: piece = b""
                if not piece: break
                text += piece
            else:
                try: client.send(b"a")
                except OSError: pass
        print(int(time.monotonic() - start), text.decode())
        """

    private static func drip(_ gateway: GatewayProcess, _ start: String) async throws -> (seconds: Int, text: String) {
        let printed = try await Shell.run(["python3", "-c", drip, String(gateway.port)], input: start)
        let parts = printed.split(separator: " ", maxSplits: 1)
        return (Int(parts[0]) ?? -1, parts.count > 1 ? String(parts[1]) : "")
    }

    private static let options = ["--head-time", "2", "--body-time", "2", "--answer-time", "2"]

    @Test("Heads and bodies have time limits")
    func limits() async throws {
        let gateway = try await GatewayProcess(
            try await Ledger.database(.sqlite), rules: Ledger.rules, options: Self.options)
        async let head = Self.drip(gateway, "GET /v1/records/accounts/1 HTTP/1.1\r\nHost: localhost\r\nX-Filler: ")
        async let body = Self.drip(
            gateway,
            "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: 100000\r\n\r\n{")
        // The gateway also does not wait for the rest of a refused body.
        async let rest = Self.drip(
            gateway,
            "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: 100000000\r\n\r\n{")
        for (seconds, text) in try await [head, body] {
            #expect((1...8).contains(seconds), "\(text)")
            #expect(text.hasPrefix("HTTP/1.1 408 "), "\(text)")
            #expect(text.lowercased().contains("\r\nconnection: close\r\n"), "\(text)")
        }
        let refused = try await rest
        #expect((1...8).contains(refused.seconds))
        #expect(refused.text.hasPrefix("HTTP/1.1 413 "), "\(refused.text)")
    }

    /// Sends a body at about 10 kB a second, for longer than `--body-time`, and prints the seconds and the status.
    private static let uplink = """
        import socket, sys, time
        client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        start = time.monotonic()
        body = b'{"edits":[]' + b" " * 120_000 + b"}"
        client.sendall(b"POST /v1/push HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
            + f"Content-Length: {len(body)}\\r\\n\\r\\n".encode())
        for place in range(0, len(body), 1000):
            client.sendall(body[place:place + 1000])
            time.sleep(0.1)
        print(int(time.monotonic() - start), client.recv(65536).split()[1].decode())
        """

    @Test("A slow body is accepted while it grows")
    func slowUplink() async throws {
        let gateway = try await GatewayProcess(
            try await Ledger.database(.sqlite), rules: Ledger.rules, options: Self.options + ["--request-time", "10"])
        let printed = try await Shell.run(["python3", "-c", Self.uplink, String(gateway.port)])
        let parts = printed.split(whereSeparator: \.isWhitespace)
        #expect(parts.count == 2 && Int(parts[0]) ?? 0 >= 10 && parts[1] == "200", "\(printed)")
    }

    /// Requests a long answer and reads nothing.
    ///
    /// Prints the number of the gateway's open files before and afterwards.
    private static let unread = """
        import os, socket, sys, time
        files = lambda: len(os.listdir(f"/proc/{sys.argv[2]}/fd"))
        before = files()
        clients = []
        for _ in range(8):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", int(sys.argv[1])))
            client.sendall(b"GET /v1/records/pages?limit=" + sys.argv[3].encode() + b" HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            clients.append(client)
        end = time.monotonic() + 40
        while time.monotonic() < end and files() < before + 8: pass
        while time.monotonic() < end and files() > before: time.sleep(0.05)
        print(before, files())
        """

    /// The answer is in the buffers of the gateway, or in those of the system.
    @Test("The connection of an unread answer is closed", arguments: [40, 4_000])
    func unreadAnswers(_ records: Int) async throws {
        let schema =
            "CREATE TABLE pages (id INTEGER PRIMARY KEY, label VARCHAR(2000) NOT NULL);"
            + "WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 4000) "
            + "INSERT INTO pages SELECT i, printf('%.2000c', 'y') FROM s;"
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: schema)
        let rules = ["pages.yaml": "resource: pages\nsections:\n  p: {table: pages, groups: {label: label}}\n"]
        let gateway = try await GatewayProcess(
            database, rules: rules, options: Self.options + ["--page-size", "4000"])
        let printed = try await Shell.run(
            ["python3", "-c", Self.unread, String(gateway.port), String(gateway.identifier), String(records)])
        let counts = printed.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        #expect(counts.count == 2 && counts[1] <= counts[0], "\(printed)")
        #expect(try await HTTPClient.with(port: gateway.port) { try await $0.get("/v1/records/pages/1").status } == 200)
    }
}
