import Foundation
import Testing
import TestSupport

/// `fieldmerge explain` as a rule author runs it.
@Suite struct ExplainTests {
    private static let program = Repository.root + ".build/debug/fieldmerge"

    private static func explain(
        _ name: String, resource: String, _ options: String...
    ) async throws -> (status: Int32, output: String, errors: String) {
        let cases = Repository.root + "Tests/Acceptance/MergeCases/"
        var arguments = [program, "explain", "--rules", cases + "rules", "--resource", resource]
        for side in ["base", "current", "edited"] { arguments += ["--\(side)", "\(cases)\(name)/\(side).json"] }
        return try await Shell.capture(arguments + options)
    }

    @Test("The table shows the values and the reason of each decision")
    func table() async throws {
        let (status, output, errors) = try await Self.explain("plain-each-outcome", resource: "plain")
        try #require(status == 0 && errors == "", "\(errors)")
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "plain: merged, with 2 conflicts")
        #expect(
            lines[2].split(separator: " ") == ["section", "group", "base", "current", "edited", "decision", "result"])
        #expect(
            lines[3].split(separator: " ") == ["person", "name", "\"Joe\"", "\"Joe\"", "\"Bob\"", "applied", "\"Bob\""])
        #expect(lines[4] == "  why: Only the client changed it (default).")
        #expect(lines.contains { $0.contains("on-conflict: server-wins keeps the database's (plain.yaml:9)") })
        #expect(lines.allSatisfy { $0.count <= 120 && !$0.hasSuffix(" ") })
        // The columns are aligned with their titles.
        let decision = try #require(lines[2].firstRange(of: "decision")).lowerBound
        let offset = lines[2].distance(from: lines[2].startIndex, to: decision)
        #expect(lines[3].dropFirst(offset).hasPrefix("applied"))
    }

    @Test("Items are named, and long values are shortened")
    func items() async throws {
        let items = try await Self.explain("rows-items", resource: "rows").output
        #expect(items.contains("\nloose    2   count  "))
        let long = try await Self.explain("text-same-words-client", resource: "texts").output
        let words = long.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("…") && words.contains("where both changed line 1, on-conflict: client-wins decides"))
        let refused = try await Self.explain("plain-rejected", resource: "plain")
        #expect(refused.status == 0 && refused.output.hasPrefix("plain: rejected, so nothing of the push is written\n"))
    }

    @Test("Programs get JSON")
    func json() async throws {
        let (status, output, _) = try await Self.explain("add-integers", resource: "amounts", "--json")
        #expect(status == 0)
        let group = try #require(try JSON(output)["groups"]?[0])
        #expect(group["base"]?.int == 10 && group["current"]?.int == 7 && group["edited"]?.int == 12)
        #expect(group["result"]?.int == 9 && group["conflict"]?.bool == true && group["rule"]?.text == "amounts.yaml:7")
    }

    @Test("Conditions in SQL are not evaluated")
    func conditions() async throws {
        let (status, _, errors) = try await Self.explain("softly-deleted", resource: "softly")
        #expect(status == 0)
        #expect(errors.contains("note: the database evaluates “where” and “checks” of section “customer”"))
    }

    /// Explains a merge of jobs with transitions and rows that are frozen.
    private static func guarded(
        base: String, current: String, edited: String, _ options: [String] = []
    ) async throws -> (status: Int32, output: String, errors: String) {
        let rules = try TemporaryFolder(files: [
            "jobs.yaml": """
            resource: jobs
            sections:
              job:
                table: jobs
                frozen-when: "status = 'closed'"
                groups:
                  status: {column: status, transitions: {new: [open], open: [closed, new], closed: []}}
                  note: note
                  strict: {column: strict, on-conflict: reject, transitions: {a: [b]}}
              tasks:
                list: true
                table: tasks
                parent: {job: id}
                frozen-when: "done = 1"
                groups: {title: title}
            """
        ])
        let folder = try TemporaryFolder(files: ["base": base, "current": current, "edited": edited])
        return try await Shell.capture(
            [program, "explain", "--rules", rules.path, "--resource", "jobs"]
                + ["base", "current", "edited"].flatMap { ["--" + $0, folder.path + "/" + $0] } + options)
    }

    private static func job(_ fields: String, tasks: String = "") -> String {
        #"{"id": 1, "job": {\#(fields)}\#(tasks.isEmpty ? "" : #", "tasks": [\#(tasks)]"#)}"#
    }

    @Test("A forbidden transition is explained by the rule that forbids it, not as a conflict of two sides")
    func transitionsAreExplained() async throws {
        let base = Self.job(#""status": "new", "strict": "a""#)
        let held = try await Self.guarded(
            base: base, current: base, edited: Self.job(#""status": "closed", "strict": "a""#), ["--json"])
        let status = try JSON(held.output)["groups"]?[0]
        #expect(status?["outcome"]?.text == "server-won" && status?["rule"]?.text == "jobs.yaml:7", "\(held)")
        let why = status?["why"]?.text ?? ""
        #expect(why.contains("transitions") && why.contains("(jobs.yaml:7)") && !why.contains("Both sides"), "\(why)")
        let refused = try await Self.guarded(
            base: base, current: base, edited: Self.job(#""status": "new", "strict": "c""#), ["--json"])
        #expect(try JSON(refused.output)["status"]?.text == "rejected", "\(refused)")
        let reason = try JSON(refused.output)["groups"]?.array.last?["why"]?.text ?? ""
        #expect(reason.contains("transitions") && reason.contains("refuses the whole push"), "\(reason)")
        let allowed = try await Self.guarded(
            base: base, current: base, edited: Self.job(#""status": "open", "strict": "b""#), ["--json"])
        #expect(try JSON(allowed.output)["groups"]?[0]?["outcome"]?.text == "applied", "\(allowed)")
        // On the same line, on-conflict decides a conflict of two sides.
        let both = try await Self.guarded(
            base: base, current: Self.job(#""status": "new", "strict": "b""#),
            edited: Self.job(#""status": "new", "strict": "c""#), ["--json"])
        #expect(try JSON(both.output)["groups"]?.array.last?["why"]?.text?.contains("Both sides") == true, "\(both)")
    }

    @Test("explain reports that frozen-when was not evaluated, and --frozen explains frozen rows")
    func frozenRows() async throws {
        let task = #"{"id": 1, "title": "t"}"#
        let base = Self.job(#""status": "closed", "note": "n", "strict": "a""#, tasks: task)
        let edited = Self.job(
            #""status": "closed", "note": "m", "strict": "a""#, tasks: #"{"id": 1, "title": "u"}"#)
        let open = try await Self.guarded(base: base, current: base, edited: edited, ["--json"])
        for place in ["section “job” (jobs.yaml:5)", "section “tasks” (jobs.yaml:14)"] {
            #expect(open.errors.contains("“frozen-when” of \(place) was not evaluated"), "\(open.errors)")
        }
        #expect(open.errors.contains("--frozen job"))
        let unevaluated = try JSON(open.output)["unevaluated"]?.array ?? []
        #expect(unevaluated.map { $0["rule"]?.text } == ["jobs.yaml:5", "jobs.yaml:14"], "\(open.output)")
        func outcomes(_ run: (status: Int32, output: String, errors: String)) throws -> [String] {
            try JSON(run.output)["groups"]?.array
                .map { "\($0["group"]?.text ?? "row") \($0["outcome"]?.text ?? "") \($0["rule"]?.text ?? "")" }
                .filter { !$0.contains("unchanged") } ?? []
        }
        #expect(try outcomes(open) == ["note applied default", "title applied default"])
        let frozen = try await Self.guarded(
            base: base, current: base, edited: edited, ["--json", "--frozen", "job"])
        #expect(try outcomes(frozen) == ["note server-won jobs.yaml:5", "title applied default"], "\(frozen)")
        #expect(!frozen.errors.contains("“frozen-when” of section “job”"), "\(frozen.errors)")
        let why = try JSON(frozen.output)["groups"]?.array.first { $0["group"]?.text == "note" }?["why"]?.text ?? ""
        #expect(why.contains("frozen-when") && !why.contains("Both sides"), "\(why)")
        // A record is not deleted if one of its rows is frozen.
        let deleted = try await Self.guarded(
            base: base, current: base, edited: "null", ["--json", "--frozen", "tasks"])
        #expect(try outcomes(deleted) == ["row kept jobs.yaml:14"], "\(deleted)")
        let unknown = try await Self.guarded(base: base, current: base, edited: edited, ["--frozen", "task"])
        #expect(unknown.status == 1 && unknown.errors.contains("“task”; did you mean “tasks”?"), "\(unknown.errors)")
    }

    @Test("Invalid input is named")
    func badInput() async throws {
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
        let good = Repository.root + "Tests/Acceptance/MergeCases/rules"
        let json = try await Shell.capture([Self.program, "explain", "--rules", good] + arguments)
        #expect(json.status == 1 && json.errors.contains("/x: cannot be read as JSON: "), "\(json.errors)")
    }
}
