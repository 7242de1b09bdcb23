import Foundation
import MergeCore
import MergeWire
import Testing
import TestSupport

@testable import RuleFiles

/// Invariants for any input.
@Suite struct FuzzTests {
    private static let mutator = Mutator(names: FuzzedRecords.names)

    // MARK: Rule files

    /// Rule files that are nearly right are read or refused, each finding with its line.
    @Test("Rule files are read or refused")
    func ruleFiles() throws {
        var run = FuzzRun()
        let good = Array(try #require(FuzzedRecords.rules["docs.yaml"]).utf8)
        while run.goesOn() {
            var bytes = good
            for _ in 0..<Int.random(in: 1...5, using: &run.random) {
                let place = Int.random(in: 0..<bytes.count, using: &run.random)
                let words = [
                    "{", "}", ": ", "[", "\n", "  ", "- ", "&a ", "*a", "!!int ", "client-keys: allow\n", "'", "(", "?",
                ]
                switch Int.random(in: 0..<4, using: &run.random) {
                case 0: bytes.removeSubrange(place..<min(place + 5, bytes.count))
                case 1: bytes.insert(contentsOf: bytes[place..<min(place + 30, bytes.count)], at: place)
                default: bytes.insert(contentsOf: (words.randomElement(using: &run.random) ?? "").utf8, at: place)
                }
                if bytes.isEmpty { bytes = [32] }
            }
            var reader = RuleFileReader(file: "f.yaml")
            let file = reader.read(String(decoding: bytes, as: UTF8.self))
            let findings = reader.findings.sorted
            #expect(file != nil || !findings.isEmpty, "\(run.name): refused in silence")
            #expect(findings.allSatisfy { $0.description.hasPrefix("f.yaml:") }, "\(run.name)")
        }
        run.report("rule files")
    }

    // MARK: Merging

    /// Every merge function returns a possible value, with parts within their limits.
    @Test func mergesAreBounded() throws {
        var run = FuzzRun()
        let trees = FuzzedRecords.pushes
        while run.goesOn() {
            func side() -> JSONTree? {
                let tree = trees.randomElement(using: &run.random) ?? .null
                return JSONParser.parse(String(decoding: Self.mutator.mutated(tree, &run.random), as: UTF8.self))
            }
            guard let base = side(), let edited = side(), let current = side() else { continue }
            for (type, function, make) in Self.kinds {
                let values = [base, edited, current].map(make)
                let decision = GroupDecision.decide(
                    base: .values([values[0]]), edited: [values[1]], current: [values[2]],
                    group: Group(name: "g", fields: 0..<1, onConflict: Ruled(.clientWins), merge: Ruled(function)),
                    types: [type], digest: { _ in [] })
                #expect(decision.parts.count <= PartLimits.count, "\(run.name)")
                if let written = decision.written?.first {
                    #expect(type.holds(written) || written == values[1], "\(run.name): \(written)")
                }
                if decision.outcome == .unchanged { #expect(values[0] == values[1], "\(run.name)") }
                if decision.outcome == .combined { #expect(decision.isConflict, "\(run.name)") }
            }
        }
        run.report("merges")
    }

    private static let kinds: [(ColumnType, MergeFunction, @Sendable (JSONTree) -> Value)] = [
        (.json(TextType()), .json(itemKey: nil), { .json($0) }),
        (.json(TextType()), .json(itemKey: ExactText("id")), { .json($0) }),
        (.json(TextType()), .set, { .json($0) }),
        (.text(TextType()), .text, { .text(ExactText($0.text)) }),
        (.integer(-1_000...1_000), .add, { .integer(Int128($0.text.utf8.count % 900)) }),
    ]

    // MARK: The whole gateway

    @Test("The program answers each request with JSON, and stores nothing of a refused push")
    func gateway() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: FuzzedRecords.sql)
        let gateway = try await GatewayProcess(database, rules: FuzzedRecords.rules)
        let start = try Self.memory(of: gateway)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            var run = FuzzRun()
            var before = try await Self.content(client)
            while run.goesOn() {
                let push = FuzzedRecords.pushes.randomElement(using: &run.random) ?? .null
                let body = Self.mutator.mutated(push, &run.random)
                let isMerge = Int.random(in: 0..<8, using: &run.random) == 0
                let answer = try await client.send(
                    .post, isMerge ? "/v1/merge/docs" : "/v1/push", ["Content-Type": "application/json"], body)
                let shown: Comment =
                    "\(run.name): \(answer.status) \(answer.text.prefix(500)) to \(String(decoding: body, as: UTF8.self))"
                #expect(answer.status < 500 || answer.status == 503, shown)
                #expect((try? JSON(answer.body)) != nil, shown)
                #expect(answer.body.count < 200_000 + 64 * body.count, shown)
                let after = try await Self.content(client)
                if answer.status >= 400 { #expect(before == after, shown) }
                before = after
                // Sometimes the rows are reset, so that bases remain close to the current values.
                if run.cases % 200 == 0 {
                    let numbers = try await database.run("SELECT COUNT(*) FROM docs WHERE n >= 1000;")
                    #expect(numbers == "0\n", "\(run.name): a check does not hold")
                    try await database.run(
                        "DELETE FROM items; DELETE FROM docs;"
                            + FuzzedRecords.sql.split(separator: ";").filter { $0.contains("INSERT") }.joined(
                                separator: ";") + ";")
                    before = try await Self.content(client)
                }
            }
            run.report("pushes to the gateway")
        }
        let end = try Self.memory(of: gateway)
        #expect(end < start + 200_000, "from \(start) to \(end) KB")
        #expect(!gateway.log.contains("Fatal"), "\(gateway.log.suffix(2_000))")
        gateway.kill()
    }

    private static func content(_ client: HTTPClient.Session) async throws -> String {
        try await client.get("/v1/records/docs?limit=500").text
    }

    /// Kilobytes that the program has in memory.
    private static func memory(of gateway: GatewayProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(gateway.identifier)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
