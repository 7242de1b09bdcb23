import MergeCore
import MergeWire
import Testing

/// Decoding and encoding check between two edits whether the client still waits.
@Suite struct CheckpointTests {
    /// Counts the checks, and returns false from a call on.
    private final class Asked: @unchecked Sendable {
        private(set) var count = 0
        private let most: Int

        init(most: Int) { self.most = most }

        func goesOn() -> Bool {
            count += 1
            return count <= most
        }
    }

    private static func decode(_ asked: Asked, edits: Int) throws -> DecodedPush {
        let edit = #"{"resource":"shoppers","id":1,"changeset":{}}"#
        let body = #"{"edits":["# + Array(repeating: edit, count: edits).joined(separator: ",") + "]}"
        let decoder = PushDecoder(catalog: DecoderTests.catalog, limits: WireLimits()) { () throws(Problem) in
            if !asked.goesOn() { throw Problem(.busy, detail: "late", retry: .later(.overload)) }
        }
        return try Array(body.utf8).withUnsafeBytes { try decoder.push($0, headerKey: nil, sender: "") }
    }

    @Test("A check precedes each edit")
    func checks() throws {
        let asked = Asked(most: .max)
        _ = try Self.decode(asked, edits: 50).push.get()
        #expect(asked.count == 100, "once for its envelope and once for itself")
    }

    @Test("Decoding ends if no client waits", arguments: [0, 30, 70])
    func decoding(_ most: Int) throws {
        let asked = Asked(most: most)
        let problem = #expect(throws: Problem.self) { _ = try Self.decode(asked, edits: 50).push.get() }
        #expect(problem?.code == .busy)
        #expect(asked.count == most + 1)
    }

    @Test("Encoding ends if no client waits")
    func encoding() throws {
        let resource = try #require(DecoderTests.catalog["shoppers"])
        let edits = (0..<50).map { _ in
            EditResult(resource: resource, id: nil, status: .merged, record: nil, outcomes: [])
        }
        let result = PushResult(key: nil, status: .merged, results: edits)
        let asked = Asked(most: 10)
        let cut = ResultEncoder.push(result, goesOn: asked.goesOn)
        #expect(cut.count < ResultEncoder.push(result).count / 4)
    }
}
