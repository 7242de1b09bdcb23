import MergeCore
import MergeWire
import Testing
import TestSupport

/// The guide's table of problems equals the table in the code.
@Suite struct ProblemTableTests {
    /// Codes that the table does not contain.
    private static let unlisted: Set<ProblemCode> = [.http]

    /// The statuses under which the guide lists each code.
    private static func guide() throws -> [String: Set<Int>] {
        var found: [String: Set<Int>] = [:]
        for line in try Repository.text("Sources/fieldmerge/Guides/API.md").split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
            guard cells.count >= 2 else { continue }
            let statuses = cells[0].map { $0.replacing(",", with: "") }.compactMap { Int($0) }
            guard !statuses.isEmpty, statuses.count == cells[0].count else { continue }
            for word in cells[1].map({ $0.replacing(",", with: "") }) where word.hasPrefix("`") {
                found[word.replacing("`", with: ""), default: []].formUnion(statuses)
            }
        }
        return found
    }

    @Test("Each code has the status of the guide")
    func statuses() throws {
        let guide = try Self.guide()
        for code in ProblemCode.allCases where !Self.unlisted.contains(code) {
            let status = ProblemHead(Problem(code, detail: "")).status
            #expect(guide[code.rawValue]?.contains(status) == true, "\(code.rawValue) \(status)")
        }
        for (code, statuses) in guide where (400..<600).contains(statuses.min() ?? 0) {
            #expect(ProblemCode(rawValue: code) != nil, "\(code)")
        }
    }

    @Test("The occasion of a problem can change its status")
    func occasions() {
        let address = ProblemHead(Problem(.unknownResource, about: .address, detail: ""))
        #expect(address == ProblemHead(status: 404, title: "Unknown resource"))
        let key = ProblemHead(Problem(.invalid, about: .contradictoryKey, detail: ""))
        #expect(key == ProblemHead(status: 400, title: "The key contradicts the record"))
        #expect(ProblemHead(Problem(.rolledBack, about: .rejection, detail: "")).status == 409)
        #expect(ProblemHead(Problem(.rolledBack, detail: "")).status == 422)
    }
}
