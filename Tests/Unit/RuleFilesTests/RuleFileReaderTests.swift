import RuleFiles
import Testing

/// Faults of a rule file are named with file, line and column, all of them in one run.
@Suite struct RuleFileReaderTests {
    private static func findings(_ text: String) -> [String] {
        RuleFolder(texts: [("f.yaml", text)]).findings.sorted.map(\.description)
    }

    private static let good = """
        resource: things
        sections:
          thing:
            table: things
            groups:
              name: name
              place: {fields: {street: street, town: town}, on-conflict: reject}
            read-only: {modified: modified_at}
          parts:
            list: true
            table: parts
            parent: {thing_id: id}
            order: [position]
            groups:
              part: {column: part, type: text}
        """

    @Test("A correct file has no findings")
    func correctFile() {
        #expect(Self.findings(Self.good) == [])
    }

    @Test(
        "Each error has one finding",
        arguments: [
            (
                "sections:", "sektions:",
                "f.yaml:2:1: error: “sektions” is not a key of a rule file; did you mean “sections”?"
            ),
            ("resource: things", "resource: Things", "f.yaml:1:11: error: a resource's name"),
            ("on-conflict: reject", "on-conflict: rejekt", "f.yaml:7:66: error: “on-conflict” is one of"),
            ("name: name", "id: name", "f.yaml:6:7: error: “id” is reserved and names no group"),
            ("name: name", "street: name", "f.yaml:7:24: error: the section has a field “street” already, in line 6"),
            ("town: town", "town: street", "f.yaml:7:46: error: column “street” is in a group already, in line 7"),
            ("modified: modified_at", "modified: name", "f.yaml:8:27: error: column “name” is in a group already"),
            ("    parent: {thing_id: id}\n", "", "f.yaml:9:3: error: section “parts” has no “parent”"),
            ("type: text", "type: txt", "f.yaml:15:34: error: “txt” is not a type; did you mean “text”?"),
            (
                "type: text", "merge: txt",
                "f.yaml:15:35: error: “merge” is one of add, max, min, set, text, json, not “txt”"
            ),
            ("type: text", "merge: {newest: x}", "f.yaml:15:36: error: “newest” is not a key of “merge”"),
            (
                "name: name", "name: {column: name, formerly: place}",
                "f.yaml:6:38: error: “place” cannot be an earlier name of group “name”, because it is a name of “place”"
            ),
            (
                "name: name", "name: {column: name, formerly: [a, town]}",
                "f.yaml:6:42: error: “town” cannot be an earlier name of field “name”, because it is a name of “town”"
            ),
            (
                "name: name", "name: {column: name, formerly: [a, a]}",
                "f.yaml:6:42: error: “a” cannot be an earlier name of group “name”, because it is a name of “name”"
            ),
            ("list: true", "list: maybe", "f.yaml:10:11: error: “list” must be true or false"),
            ("    table: parts\n", "", "f.yaml:9:3: error: section “parts” names no table"),
            (
                "    table: things\n", "    table: things\n    delete: {put: {a: 1}}\n",
                "f.yaml:5:14: error: “put” is not a key of “delete”"
            ),
            (
                "    table: things\n", "    table: things\n    checks: [{name: a, sql: x}, {name: a, sql: y}]\n",
                "f.yaml:5:40: error: the section has a check “a” already, in line 5"
            ),
            (
                "    table: things\n", "    table: things\n    checks: [{name: a}]\n",
                "f.yaml:5:14: error: a check has no “sql”"
            ),
            (
                "    table: things\n", "    table: things\n    on-missing: restor\n",
                "f.yaml:5:17: error: “on-missing” is one of drop, restore, reject, not “restor”; did you mean “restore”?"
            ),
            (
                "    table: things\n", "    table: things\n    parent: x\n",
                "f.yaml:5:5: error: the root section has no parent"
            ),
        ])
    func errors(_ part: String, _ wrong: String, _ finding: String) {
        let found = Self.findings(Self.good.replacing(part, with: wrong, maxReplacements: 1))
        #expect(found.contains { $0.hasPrefix(finding) }, "\(found)")
    }

    @Test("A byte order mark is skipped")
    func byteOrderMark() {
        #expect(Self.findings("\u{FEFF}" + Self.good) == [])
    }

    @Test("A function without its field is a finding")
    func missingField() {
        let text = Self.good.replacing("name: name", with: "name: {column: name, merge: latest}")
        #expect(
            Self.findings(text)
                == ["f.yaml:6:35: error: “merge: latest” needs the field of the time; write “merge: {latest: FIELD}”"])
    }

    @Test("All errors are reported in one run")
    func allErrors() {
        let text = Self.good.replacing("list: true", with: "lsit: true").replacing("type: text", with: "typ: text")
            .replacing("resource: things", with: "resource: Th")
        #expect(Self.findings(text).count >= 4)
    }

    @Test("Invalid YAML is reported")
    func invalidYAML() {
        #expect(Self.findings("a: [").first?.contains("not YAML") == true)
        #expect(Self.findings("").first?.contains("empty") == true)
    }

    /// The finding names the second position.
    @Test(
        "A repeated key is a finding, and hides no other one",
        arguments: [
            ("resource: a\nresource: b\nsectons: {}", ["2:1 resource", "3:1"]),
            ("resource: a\r\n\"resource\": b\r\nresource: c\r\nsectons: {}", ["2:1 resource", "3:1 resource", "4:1"]),
            (
                "resource: a\nsections: {r: {table: c, groups: {é: é, é: f, x: x, x: y}, on-conflct: reject}}",
                ["2:41 é", "2:53 x", "2:60"]
            ),
            ("resource: a\nsections: {r: {table: c}}\n'sections': {r: {tabel: c}}", ["3:1 sections", "3:18"]),
            // A key that is written in another way is reported.
            ("resource: a\n\"\\x72esource\": b\nsectons: {}", ["2:1 resource", "3:1"]),
            ("\"\\x72esource\": b\nresource: a\nsectons: {}", ["1:1 resource"]),
        ])
    func repeatedKey(_ text: String, _ expected: [String]) {
        let findings = Self.findings(text)
        for place in expected {
            let parts = place.split(separator: " ")
            let sentence = parts.count > 1 ? "the key “\(parts[1])” more than once" : ""
            #expect(
                findings.contains { $0.hasPrefix("f.yaml:\(parts[0]): error: ") && $0.contains(sentence) },
                "\(place) in \(findings)")
        }
        #expect(findings.filter { $0.contains("more than once") }.count == expected.filter { $0.contains(" ") }.count)
    }

    @Test("A resource in two files is a finding")
    func resourceInTwoFiles() {
        let folder = RuleFolder(texts: [("a.yaml", Self.good), ("b.yaml", Self.good)])
        #expect(
            folder.findings.sorted.map(\.description) == [
                "b.yaml:1:11: error: the resource “things” is already in a.yaml"
            ])
    }

    @Test(
        "Names of the same file are checked without a schema",
        arguments: [
            ("groups: {g: {fields: {a: a, b: b}, merge: add}}", "f.yaml:4", "group “g” has 2 fields"),
            ("groups: {g: {fields: {a: a, b: b}, merge: {json: id}}}", "f.yaml:4", "group “g” has 2 fields"),
            ("groups: {g: {fields: {a: a, b: b}, merge: {latest: c}}, c: c}", "f.yaml:4", "group “g” has no field “c”"),
            ("groups: {a: a}\nchecks: [{name: n, sql: a > 0, fields: [b]}]", "f.yaml:5", "has no field “b”"),
            (
                "groups: {g: {fields: {a: a, b: b}}}\nchecks: [{name: n, sql: a > 0, fields: [g]}]", "f.yaml:5",
                "“g” is a group; name its fields a, b"
            ),
        ])
    func namesOfTheFile(_ rules: String, _ place: String, _ sentence: String) {
        let lines = rules.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
        let folder = RuleFolder(texts: [("f.yaml", "resource: f\nsections:\n  f:\n\(lines)\n    table: f\n")])
        let findings = folder.findings.errors
        #expect(findings.count == 1 && findings[0].hasPrefix(place) && findings[0].contains(sentence), "\(findings)")
    }

    @Test(
        "Names of sections and groups in access rules are checked without a schema",
        arguments: [
            ("read: [f.b]", "no group and no read-only field “b”"), ("read: [g]", "no section “g”"),
            ("read: all, write: [f.b]", "no group and no read-only field “b”"),
            ("read: all, write: [f], create: [f.b]", "no group and no read-only field “b”"),
        ])
    func partsOfRights(_ rights: String, _ sentence: String) {
        let text =
            "resource: f\nsections: {f: {table: f, groups: {a: a}, read-only: {r: r}}}\naccess:\n  driver: {\(rights)}\n"
        let findings = RuleFolder(texts: [("f.yaml", text)]).findings.errors
        #expect(findings.count == 1 && findings[0].hasPrefix("f.yaml:4"), "\(findings)")
        #expect(findings.first?.contains(sentence) == true, "\(findings)")
        #expect(
            RuleFolder(texts: [("f.yaml", text.replacing("f.b", with: "f.r").replacing("[g]", with: "[f.a]"))])
                .findings.errors.isEmpty)
    }
}
