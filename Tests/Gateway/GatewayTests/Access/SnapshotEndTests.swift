import MergeCore
import Operations
import Synchronization
import Testing
import TestSupport

@testable import Gateway

/// A snapshot ends with the rights under which it began.
@Suite(.timeLimit(.minutes(3))) struct SnapshotEndTests {
    /// Accepts a token a number of times.
    ///
    /// Then the token is withdrawn, or has another user.
    private final class CountingVerifier: TokenVerifier {
        private let left: Mutex<Int>
        private let before: Bearer
        private let after: Bearer?

        init(_ times: Int, _ before: Bearer, then after: Bearer? = nil) {
            left = Mutex(times)
            self.before = before
            self.after = after
        }

        var trouble: String? { nil }

        func bearer(of token: String) async throws(TokenRefusal) -> Bearer {
            let isFirst = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isFirst { return before }
            guard let after else { throw .unknown }
            return after
        }

        func seemsGood(_ token: String) -> Bool { true }
    }

    private static let reader = Bearer(name: "ann", rights: [.read], roles: [ExactText("driver")])

    /// The bytes that a client receives of a snapshot of 4,000 records until the gateway ends it.
    private static func received(_ verifier: any TokenVerifier) async throws -> String {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: FeedFixture.sql(.sqlite))
        let values = (100..<4_100).map { "(\($0), 1, 't\($0)')" }.joined(separator: ",")
        try await database.run("INSERT INTO things VALUES \(values);")
        return try await RunningGateway.with(database, rules: FeedFixture.rules, journal: .together, verifier: verifier)
        { gateway async throws in
            try await gateway.client(token: "any") { client async throws in
                #expect(try await client.open("/v1/snapshot?resources=things") == 200)
                var text = ""
                do {
                    while let piece = try await client.nextPiece() { text += piece }
                } catch {
                    // The gateway closes the connection before the end of the body.
                }
                return text
            }
        }
    }

    @Test("A snapshot ends when its token is withdrawn, and no later record is sent")
    func withdrawn() async throws {
        // The token is checked at the request, and again at each piece.
        let text = try await Self.received(CountingVerifier(3, Self.reader))
        #expect(text.contains(#"{"snapshot":"#) && !text.contains(#"{"end":"#), "\(text.suffix(200))")
        #expect(!text.contains("t4099"))
        let whole = try await Self.received(CountingVerifier(.max, Self.reader))
        #expect(whole.contains(#"{"end":"#) && whole.contains("t4099"))
    }

    @Test("A snapshot ends when its token gets other roles or claims")
    func changed() async throws {
        let other = Bearer(name: "ann", rights: [.read], roles: [ExactText("office")])
        let text = try await Self.received(CountingVerifier(3, Self.reader, then: other))
        #expect(!text.contains(#"{"end":"#) && !text.contains("t4099"), "\(text.suffix(200))")
    }
}
