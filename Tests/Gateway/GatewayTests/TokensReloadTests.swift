import Foundation
import Operations
import Testing
import TestSupport

/// Tokens are added and removed while the gateway runs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TokensReloadTests {
    /// A gateway with a tokens file.
    private struct Place {
        let folder: TemporaryFolder
        /// Its files exist as long as the gateway needs them.
        let database: TestDatabase
        let gateway: GatewayProcess
        var file: String { folder.path + "/tokens" }

        init(_ lines: [String]) async throws {
            database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
            folder = try TemporaryFolder(files: ["tokens": lines.joined(separator: "\n")])
            gateway = try await GatewayProcess(
                database, rules: MergeTests.rules, options: ["--tokens", folder.path + "/tokens"])
        }

        func write(_ lines: [String]) throws {
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        }

        /// Waits until a token opens the gateway or does not, over one connection that is kept.
        func wait(_ client: HTTPClient.Session, for status: Int) async throws {
            while try await client.get("/v1/rules").status != status { await Task.yield() }
        }

        /// Sends SIGHUP until the log has the message.
        ///
        /// The gateway may listen before it handles the signal.
        func hangUp(until mark: String) async throws {
            while !gateway.log.contains(mark) {
                gateway.hangUp()
                _ = try await problems()
            }
        }

        func problems() async throws -> String? {
            try await HTTPClient.with(port: gateway.port) { client async throws in
                let ready = try await client.get("/readyz")
                #expect(ready.status == 200, "\(ready.text)")
                return try ready.json()["problems"]?.array.first?.text
            }
        }
    }

    private static func tokens(_ names: [String]) -> (secrets: [String], lines: [String]) {
        let tokens = names.map { ($0, AccessToken.make()) }
        return (tokens.map { $0.1.secret }, tokens.map { $0.1.line(name: $0.0, rights: [.read, .write]) })
    }

    /// Connections that are open are no exception.
    @Test("A withdrawn token is refused", arguments: [true, false])
    func withdrawn(_ isToldBySignal: Bool) async throws {
        let (secrets, lines) = Self.tokens(["a", "b", "c"])
        let place = try await Place(Array(lines[..<2]))
        let port = place.gateway.port
        try await HTTPClient.with(port: port, token: secrets[0]) { stays async throws in
            try await HTTPClient.with(port: port, token: secrets[1]) { goes async throws in
                try await HTTPClient.with(port: port, token: secrets[2]) { comes async throws in
                    for (client, status) in [(stays, 200), (goes, 200), (comes, 401)] {
                        #expect(try await client.get("/v1/rules").status == status)
                    }
                    try place.write([lines[0], lines[2]])
                    if isToldBySignal {
                        try await place.hangUp(until: "reading the tokens again on SIGHUP")
                        // The same signal is for the rules too.
                        try await place.hangUp(until: "reading the rules again on SIGHUP")
                    }
                    try await place.wait(goes, for: 401)
                    #expect(try await stays.get("/v1/rules").status == 200)
                    #expect(try await comes.get("/v1/rules").status == 200)
                    let large = try await goes.send(
                        .post, "/v1/push", ["Content-Type": "application/json"], Array(repeating: 32, count: 100_000))
                    #expect(large.status == 401)
                }
            }
        }
    }

    /// A file that is replaced as a whole, or that a link leads to, is watched like any other.
    @Test("A link to the file is followed")
    func link() async throws {
        let (secrets, lines) = Self.tokens(["a", "b"])
        let place = try await Place([lines[0]])
        try FileManager.default.createDirectory(atPath: place.folder.path + "/new", withIntermediateDirectories: true)
        try Data(lines[1].utf8).write(to: URL(filePath: place.folder.path + "/new/tokens"))
        try await HTTPClient.with(port: place.gateway.port, token: secrets[0]) { client async throws in
            #expect(try await client.get("/v1/rules").status == 200)
            try await Shell.run(["ln", "-sfn", place.folder.path + "/new/tokens", place.file])
            try await place.wait(client, for: 401)
        }
    }

    @Test(
        "A broken file is logged, and the old tokens remain valid",
        arguments: [
            ("nonsense", ":2: a line is “NAME RIGHTS sha256:HASH”"),
            ("b rule sha256:" + String(repeating: "0", count: 64), ":2: rights are"),
        ])
    func brokenFile(_ line: String, _ fault: String) async throws {
        let (secrets, lines) = Self.tokens(["a"])
        let place = try await Place(lines)
        #expect(try await place.problems() == nil)
        try place.write(["# others", line])
        try await place.hangUp(until: "error fieldmerge: \(place.file)\(fault)")
        #expect(try await place.problems()?.hasPrefix(place.file + fault) == true)
        try await HTTPClient.with(port: place.gateway.port, token: secrets[0]) { client async throws in
            #expect(try await client.get("/v1/rules").status == 200)
        }
        try FileManager.default.removeItem(atPath: place.file)
        try await place.hangUp(until: "the tokens file cannot be read; the tokens known before")
        try place.write(lines)
        while try await place.problems() != nil { await Task.yield() }
    }

    @Test("The last token can be withdrawn")
    func lastToken() async throws {
        let (secrets, lines) = Self.tokens(["a"])
        let place = try await Place(lines)
        try await HTTPClient.with(port: place.gateway.port, token: secrets[0]) { client async throws in
            #expect(try await client.get("/v1/rules").status == 200)
            try place.write(["# nobody"])
            try await place.wait(client, for: 401)
        }
        #expect(try await place.problems()?.contains("contains no token, so every request is refused") == true)
    }

    @Test("A broken file is an error at the start", arguments: ["", "# nobody\n", "nonsense\n"])
    func brokenAtStart(_ text: String) async throws {
        let folder = try TemporaryFolder(files: ["tokens": text])
        let ran = try await Shell.capture([
            GatewayProcess.program, "serve", "--database", "sqlite:/nowhere", "--rules", "/nowhere", "--tokens",
            folder.path + "/tokens",
        ])
        #expect(ran.status == 1 && ran.errors.contains(folder.path + "/tokens:"), "\(ran.errors)")
    }

    @Test("A start without tokens is a warning")
    func noTokens() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let open = try await GatewayProcess(database, rules: MergeTests.rules)
        #expect(
            open.log.contains(
                "warning fieldmerge: without --tokens every program that reaches "
                    + "127.0.0.1"), "\(open.log)")
        let place = try await Place(Self.tokens(["a"]).lines)
        #expect(!place.gateway.log.contains("everybody"))
    }
}
