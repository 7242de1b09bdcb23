import Foundation
import MergeCore
import MergeWire
import Operations
import RuleFiles
import Testing
import TestSupport

/// The cases of `Tests/Acceptance/MergeCases`: three records, and their merge by the rules of that folder.
///
/// `expected.json` names the resource and either the expected `fault`, or the `status` and the `groups`. Only the named
/// members of a group are compared; null also means that a member is missing.
@Suite struct MergeCaseTests {
    private static let root = Repository.root + "Tests/Acceptance/MergeCases/"

    private static let names = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
        .filter { $0 != "rules" && !$0.hasPrefix(".") }.sorted()

    private static func file(_ name: String, _ side: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: root + name + "/" + side + ".json")))
    }

    @Test("The folder has cases")
    func count() {
        #expect(Self.names.count >= 90)
    }

    @Test("Each case has the expected result", arguments: names)
    func cases(_ name: String) throws {
        let expected = try JSON(try Self.file(name, "expected"))
        let files = Sided(
            base: try Self.file(name, "base"), current: try Self.file(name, "current"),
            edited: try Self.file(name, "edited"))
        let resource = try #require(expected["resource"]?.text)
        let explanation: JSON
        do {
            explanation = try Self.explain(resource, files)
        } catch TrialFault.record(let side, let sentence) {
            #expect(expected["fault"]?["side"]?.text == side.rawValue)
            #expect(expected["fault"]?["text"]?.text == sentence)
            return
        }
        #expect(explanation["resource"] == expected["resource"])
        #expect(explanation["status"] == expected["status"])
        let groups = try #require(explanation["groups"]?.array)
        let wanted = try #require(expected["groups"]?.array)
        #expect(groups.count == wanted.count, "\(explanation)")
        for (group, wanted) in zip(groups, wanted) {
            for (member, value) in wanted.object {
                #expect(Self.holds(group[member], value), "\(member) of \(group), not \(value)")
            }
        }
    }

    private static func explain(_ resource: String, _ files: Sided<[UInt8]>) throws -> JSON {
        let folder = RuleFolder(path: root + "rules")
        let explanation = try RuleTrial.run(folder, resource: resource, files: files)
        return try JSON(ExplanationEncoder.encode(explanation))
    }

    private static func holds(_ found: JSON?, _ wanted: JSON) -> Bool {
        if wanted.isNull { return found?.isNull ?? true }
        guard let found else { return false }
        return found == wanted
    }
}
