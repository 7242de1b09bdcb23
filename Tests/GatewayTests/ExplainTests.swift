import Foundation
import Testing
import TestSupport

/// `fieldmerge explain` as a rule author runs it.
@Suite struct ExplainTests {
    private static let program = Repository.root + ".build/debug/fieldmerge"

    private static func explain(
        _ name: String, resource: String, _ options: String...
    ) async throws -> (status: Int32, output: String, errors: String) {
        let cases = Repository.root + "Tests/MergeCases/"
        var arguments = [program, "explain", "--rules", cases + "rules", "--resource", resource]
        for side in ["base", "current", "edited"] { arguments += ["--\(side)", "\(cases)\(name)/\(side).json"] }
        return try await Shell.capture(arguments + options)
    }

    @Test func theTableTellsWhatMetAndWhy() async throws {
        let (status, output, errors) = try await Self.explain("plain-each-outcome", resource: "plain")
        #expect(status == 0 && errors == "", "\(errors)")
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "plain: merged, with 2 conflicts")
        #expect(
            lines[2].split(separator: " ") == ["section", "group", "base", "current", "edited", "decision", "result"])
        #expect(
            lines[3].split(separator: " ") == ["person", "name", "\"Joe\"", "\"Joe\"", "\"Bob\"", "applied", "\"Bob\""])
        #expect(lines[4] == "  why: Only the client changed it (default).")
        #expect(lines.contains { $0.contains("on-conflict: server-wins keeps the database's (plain.yaml:9)") })
        #expect(lines.allSatisfy { $0.count <= 120 && !$0.hasSuffix(" ") })
        // The columns stand under their titles.
        let decision = try #require(lines[2].firstRange(of: "decision")).lowerBound
        let offset = lines[2].distance(from: lines[2].startIndex, to: decision)
        #expect(lines[3].dropFirst(offset).hasPrefix("applied"))
    }

    @Test func itemsAreNamedAndLongValuesShortened() async throws {
        let items = try await Self.explain("rows-items", resource: "rows").output
        #expect(items.contains("\nloose    2   count  "))
        let long = try await Self.explain("text-same-words-client", resource: "texts").output
        let words = long.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("…") && words.contains("where both changed line 1, on-conflict: client-wins decides"))
        let refused = try await Self.explain("plain-rejected", resource: "plain")
        #expect(refused.status == 0 && refused.output.hasPrefix("plain: rejected, so nothing of the push is written\n"))
    }

    @Test func programsGetJSON() async throws {
        let (status, output, _) = try await Self.explain("add-integers", resource: "amounts", "--json")
        #expect(status == 0)
        let group = try #require(try JSON(output)["groups"]?[0])
        #expect(group["base"]?.int == 10 && group["current"]?.int == 7 && group["edited"]?.int == 12)
        #expect(group["result"]?.int == 9 && group["conflict"]?.bool == true && group["rule"]?.text == "amounts.yaml:7")
    }

    @Test func conditionsOfTheDatabaseAreNotRun() async throws {
        let (status, _, errors) = try await Self.explain("softly-deleted", resource: "softly")
        #expect(status == 0)
        #expect(errors.contains("note: the database evaluates “where” and “checks” of section “customer”"))
    }

    @Test func badInputIsNamed() async throws {
        let fault = try await Self.explain("plain-unknown-field", resource: "plain")
        #expect(fault.status == 1 && fault.output == "")
        #expect(fault.errors.contains("base.json: “person.nane” is no field here; did you mean “name”?"))
        let unknown = try await Self.explain("add-integers", resource: "amount")
        #expect(unknown.status == 1 && unknown.errors.contains("no resource “amount”; did you mean “amounts”?"))
        let missing = try await Self.explain("no-such-case", resource: "amounts")
        #expect(missing.status == 1 && missing.errors.contains("no-such-case/base.json: the file cannot be read"))
        let folder = try TemporaryFolder()
        try await Shell.run(
            ["tee", folder.path + "/r.yaml", folder.path + "/x"], input: "resource: amounts\nsection: {}\n")
        let file = folder.path + "/x"
        let arguments = ["--resource", "amounts", "--base", file, "--current", file, "--edited", file]
        let rules = try await Shell.capture([Self.program, "explain", "--rules", folder.path] + arguments)
        #expect(rules.status == 1 && rules.errors.contains("r.yaml:2:1: error: “section” is not a key of a rule file"))
        let good = Repository.root + "Tests/MergeCases/rules"
        let json = try await Shell.capture([Self.program, "explain", "--rules", good] + arguments)
        #expect(json.status == 1 && json.errors.contains("/x: cannot be read as JSON: "), "\(json.errors)")
    }
}
