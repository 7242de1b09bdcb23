import Testing
import TestSupport

/// A gateway that may have few files open, and more clients than that.
@Suite(.timeLimit(.minutes(2))) struct FewFilesTests {
    /// Opens idle connections, and sends a request while they are open and one after they are closed.
    ///
    /// Prints the number of open connections and both statuses.
    private static let crowd = """
        import http.client, select, socket, sys
        port, count = int(sys.argv[1]), int(sys.argv[2])
        def ask():
            for _ in range(400):
                try:
                    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                    client.request("GET", "/v1/records/accounts/1")
                    return client.getresponse().status
                except (OSError, http.client.HTTPException):
                    pass
        early = socket.create_connection(("127.0.0.1", port))
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
        refused = idle[-1].recv(1000).decode()
        poll = select.poll()
        for client in idle: poll.register(client, select.POLLIN)
        held = count - len(poll.poll(0))
        early.sendall(b"GET /v1/records/accounts/1 HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
        beside = early.recv(1000).decode().split()[1]
        for client in idle: client.close()
        status = ask()
        while status != 200: status = ask()
        print(held, beside, status, refused.split()[1], "retry-after" in refused)
        """

    @Test("Connections within the limit of files are served", arguments: [128, 1_024], TestEngine.allCases)
    func served(_ limit: Int, _ kind: TestEngine) async throws {
        let database = try await Ledger.database(kind)
        let gateway = try await GatewayProcess(
            database, rules: Ledger.rules, wrapper: ["prlimit", "--nofile=\(limit)"])
        let printed = try await Shell.run(
            ["prlimit", "--nofile=4096", "python3", "-c", Self.crowd, String(gateway.port), String(limit + 80)])
        let words = printed.split(separator: " ").map { $0.filter { $0 != "\n" } }
        let held = Int(words.first ?? "") ?? 0
        #expect(held > limit / 8 && held < limit, "\(printed)")
        #expect(words.dropFirst() == ["200", "200", "503", "True"], "\(printed)")
        #expect(gateway.isRunning)
        #expect(await gateway.stop() == 0)
    }

    @Test("A limit without files for clients is an error at the start")
    func tooFewFiles() async throws {
        let database = try await Ledger.database(.sqlite)
        await #expect(throws: Shell.Failure.self) {
            _ = try await GatewayProcess(
                database, rules: Ledger.rules, options: ["--connections", "64"],
                wrapper: ["prlimit", "--nofile=96"])
        }
    }
}
