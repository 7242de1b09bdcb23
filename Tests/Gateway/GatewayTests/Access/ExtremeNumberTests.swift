import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Numbers in tokens, queries, bodies and settings that are too large for an integer or a double.
@Suite(.timeLimit(.minutes(3))) struct ExtremeNumberTests {
    private static let digits = String(repeating: "9", count: 400)
    /// Numbers of JSON above all that a clock reaches.
    private static let large = [
        "1e999", "1e22", "9223372036854775807", "9223372036854775808", "18446744073709551616", digits, digits + ".5",
        "1e9999999999999999999999",
    ]
    /// Numbers of JSON below all that a clock reaches.
    private static let small = large.map { "-" + $0 } + ["-0", "0", "-0.0", "1e-999", "-1e-999", "5e-324"]
    private static let noNumbers = ["NaN", "Infinity", "-Infinity", "0x1F", "1e", "--1", "1_000", "١٢"]

    private static func with(
        _ body: @escaping @Sendable (RunningGateway, @Sendable ([String: String]) throws -> String) async throws -> Void
    ) async throws {
        let signer = TestSigner.es256("k")
        let folder = try TemporaryFolder(files: ["keys.json": TestSigner.set([try signer.jwk()])])
        var settings = JWTSettings(issuer: TestSigner.issuer, audience: TestSigner.audience)
        settings.keys = folder.path + "/keys.json"
        let access = try await JWTAccess(settings, logger: JWTTests.quiet)
        try await RunningGateway.with(
            try await Rounds.database(.sqlite), rules: Rounds.rules, journal: .together,
            verifier: AccessVerifier(file: nil, jwt: access)
        ) { gateway async throws in
            try await body(gateway) {
                try signer.token(TestSigner.claims(["roles": #"["driver", "late", "operator"]"#].merging($0) { $1 }))
            }
        }
    }

    @Test("A token whose end is an extreme number opens a wait and an event stream, or is refused")
    func endsOfTokens() async throws {
        try await Self.with { gateway, token async throws in
            for end in Self.large {
                try await gateway.client(token: try token(["exp": end])) { client async throws in
                    let position = try await client.position()
                    let waited = try await client.get(
                        "/v1/changes?since=\(position.revision)&feed=\(position.feed)&wait=1")
                    #expect(waited.status == 200, "\(end): \(waited.text)")
                    #expect(try await client.open("/v1/changes", ["Accept": "text/event-stream"]) == 200, "\(end)")
                    #expect(try await client.nextPiece()?.contains("event: changes") == true, "\(end)")
                }
            }
            for end in Self.small + Self.noNumbers {
                let answer = try await gateway.client(token: try token(["exp": end])) { try await $0.get("/v1/rules") }
                #expect(answer.status == 401, "\(end): \(answer.text)")
            }
            try await Self.expectAlive(gateway, try token([:]))
        }
    }

    @Test("A token that begins at an extreme number is refused in the future and accepted in the past")
    func beginningsOfTokens() async throws {
        try await Self.with { gateway, token async throws in
            for (starts, status) in [(Self.large, 401), (Self.small, 200), (Self.noNumbers, 401)] {
                for start in starts {
                    let answer = try await gateway.client(token: try token(["nbf": start])) {
                        try await $0.get("/v1/rules")
                    }
                    #expect(answer.status == status, "\(start): \(answer.text)")
                }
            }
        }
    }

    @Test("Extreme numbers in iat and in claims open no row and end nothing")
    func claims() async throws {
        try await Self.with { gateway, token async throws in
            for number in Self.large + Self.small {
                for claims in [["iat": number], ["areas": number], ["areas": "[\(number)]"], ["today": number]] {
                    try await gateway.client(token: try token(claims)) { client async throws in
                        for path in ["/v1/records/stops", "/v1/snapshot", "/v1/changes"] {
                            let answer = try await client.get(path)
                            #expect(answer.status == 200, "\(claims) \(path): \(answer.text)")
                            #expect(!answer.text.contains("One"), "\(claims) \(path): \(answer.text)")
                        }
                    }
                }
            }
        }
    }

    @Test("Extreme numbers in queries and bodies have an answer")
    func queries() async throws {
        try await Self.with { gateway, token async throws in
            try await gateway.client(token: try token([:])) { client async throws in
                let feed = try await client.position().feed
                let numbers = Self.large + Self.small + Self.noNumbers
                for number in numbers {
                    let sent = KeyEscaping.escaped(number)
                    for path in [
                        "/v1/changes?since=\(sent)&feed=\(feed)&wait=\(sent)", "/v1/changes?limit=\(sent)",
                        "/v1/changes?since=0&feed=\(feed)&wait=1&limit=\(sent)", "/v1/records/stops?limit=\(sent)",
                        "/v1/records/stops?after=\(sent)", "/v1/records/stops/\(sent)",
                        "/v1/journal?limit=\(sent)", "/v1/journal?after=\(sent)", "/v1/journal?since=\(sent)",
                        "/v1/journal?resource=stops&id=\(sent)", "/v1/journal/\(sent)", "/v1/snapshot?after=\(sent)",
                    ] {
                        let answer = try await client.get(path)
                        let isKnown = [200, 400, 404, 410].contains(answer.status)
                        #expect(isKnown, "\(path): \(answer.status) \(answer.text)")
                    }
                    for body in [
                        #"{"since": \#(number), "feed": "\#(feed)"}"#, #"{"limit": \#(number)}"#,
                        #"{"pushes": [{"key": "k", "edits": [{"resource": "stops", "id": \#(number), "changeset": {}}]}]}"#,
                        #"{"pushes": [{"key": "\#(sent)", "edits": [{"resource": "stops", "id": 1, "changeset": {"stop": "#
                            + #"{"price": {"old": \#(number), "new": \#(number)}}}}]}]}"#,
                    ] {
                        let answer = try await client.post("/v1/sync", body)
                        #expect([200, 207, 400].contains(answer.status), "\(body): \(answer.status) \(answer.text)")
                    }
                }
            }
            try await Self.expectAlive(gateway, try token([:]))
        }
    }

    @Test("An event stream that continues from an extreme number has an answer")
    func eventIDs() async throws {
        try await Self.with { gateway, token async throws in
            for number in Self.large + Self.small + Self.noNumbers where number.utf8.allSatisfy({ $0 < 128 }) {
                try await gateway.client(token: try token([:])) { client async throws in
                    let feed = try await client.position().feed
                    #expect(
                        try await client.open(
                            "/v1/changes",
                            ["Accept": "text/event-stream", "Last-Event-ID": "\(feed):\(number)"]) == 200)
                    #expect(try await client.nextPiece()?.isEmpty == false)
                }
            }
        }
    }

    @Test(
        "A setting with an extreme number is an error that names it",
        arguments: [
            "connections", "max-clients", "max-waiting", "max-body", "max-depth", "max-edits", "max-items",
            "rows-per-record", "page-size", "coalesce", "lanes", "request-time", "head-time", "body-time",
            "answer-time", "max-answer", "max-memory", "max-journal-day", "rate-requests", "rate-edits",
            "scan-rows-per-second", "token-lifetime", "schema-interval", "keep-keys", "keep-journal", "keep-changes",
        ])
    func settings(_ name: String) async throws {
        for number in ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e22", "-1", "NaN"] {
            let folder = try TemporaryFolder(files: ["settings.yaml": "\(name): \(number)\n", "a.db": ""])
            let ran = try await Shell.capture([
                GatewayProcess.program, "serve", "--config", folder.path + "/settings.yaml", "--rules",
                Repository.root + "MergeRules", "--database", "sqlite:" + folder.path + "/a.db", "--listen",
                "127.0.0.1:0",
            ])
            #expect(ran.status == 1 && ran.errors.contains("--\(name) "), "\(number): \(ran.status) \(ran.errors)")
        }
    }

    private static func expectAlive(_ gateway: RunningGateway, _ token: String) async throws {
        let answer = try await gateway.client(token: token) { try await $0.get("/v1/rules") }
        #expect(answer.status == 200)
    }
}

/// Writes a text as a part of a URL.
private enum KeyEscaping {
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
