import MergeCore
import RecordStore
import RuleFiles
import Testing

/// Rules are bound to typed columns, and each rule that does not fit the schema is a finding.
@Suite struct RuleBinderTests: BinderSuite {
    @Test(
        "Deletions that the column can store are no finding", arguments: ["1", "'7'", "now()", "gone + 1", "'it''s'"])
    func storedDeletion(_ sql: String) {
        let (_, findings) = Self.bind(Self.root("table: states\nwhere: gone = 0\ndelete: {set: {gone: \"\(sql)\"}}"))
        #expect(!findings.contains { $0.contains("cannot store") }, "\(findings)")
    }

    @Test("A note points to “number” if clients number rows themselves")
    func numbering() {
        let numbered = Self.bind(Self.root("table: pages\ngroups: {title: title}\nnumber: next"))
        #expect(numbered.0?.resources.first?.root.gatewayNumbersKey == true)
        #expect(numbered.0?.resources.first?.root.generatedKeyColumn == 1)
        let plain = Self.bind(Self.root("table: pages\ngroups: {title: title}"))
        #expect(plain.0?.resources.first?.root.generatedKeyColumn == nil)
        #expect(plain.1.contains { $0.contains(": note: clients number “page” themselves") }, "\(plain.1)")
        #expect(plain.0?.version != numbered.0?.version)
        let links = Self.bind(Self.root("table: links"))
        #expect(!links.1.contains { $0.contains("number: next") }, "\(links.1)")
    }

    @Test(
        "Each rule that does not fit the schema is an error",
        arguments: [
            ("table: thigns", "the database has no table “thigns”; did you mean “things”?"),
            ("table: things\ngroups: {name: nmae}", "table “things” has no column “nmae”; did you mean “name”?"),
            ("table: things\ngroups: {name: parts.part}", "a group cannot mix tables"),
            ("table: things\ngroups: {key: id}", "column “id” is the key, which comes from “id”"),
            ("table: things\ngroups: {s: stamp}", "column “stamp” cannot be written, because it is generated"),
            ("table: things\ngroups: {s: shape}", "is not supported"),
            ("table: things\ngroups: {n: {column: name, type: boolean}}", "cannot be boolean"),
            (
                "table: states\ngroups: {s: {column: state, transitions: {new: [open, \"\"]}}}",
                "“” cannot be written to column “state”: it"
            ),
            ("table: states\ngroups: {s: {column: state, transitions: {new: [opne]}}}", "cannot store “opne”"),
            ("table: states\nstamp: {state: {value: \"\"}}", "“” cannot be written to column “state”"),
            ("table: states\nwhere: gone = 0\ndelete: {set: {gone: \"'yes'\"}}", "cannot store this value: it"),
            ("table: states\nwhere: gone = 0\ndelete: {set: {gone: 500}}", "cannot store this value: it"),
            ("table: states\nwhere: gone = 0\ndelete: {set: {gone: \"NULL\"}}", "the column is NOT NULL"),
            (
                "table: states\nwhere: state <> 'gone'\ndelete: {set: {state: \"'gone'\"}}",
                "cannot store this value: it"
            ),
            ("table: things\nnumber: next", "“number” is not possible here, because it needs a key of several columns"),
            ("table: things\nnumber: last", "“number” is one of next, not “last”"),
            ("table: links\nnumber: next", "column “part” refers to another table"),
            ("table: pages\nkey: [page, chapter]\nnumber: next", "column “chapter” of type text is not an integer"),
            ("table: things\nstamp: {id: now}", "column “id” cannot be stamped, because it is the key"),
            ("table: things\ngroups: {n: name}\nstamp: {name: now}", "clients write it; make its field read-only"),
            ("table: things\nstamp: {stamp: now}", "column “stamp” cannot be stamped, because it is generated"),
            ("table: things\nstamp: {name: now}", "column “name” of type text cannot be stamped with now"),
            ("table: things\nstamp: {nmae: {claim: who}}", "has no column “nmae”; did you mean “name”?"),
            ("table: parts\nstamp: {thing_id: {value: x}}", "is of type integer and cannot store “x”"),
            ("table: things\nstamp: {name: then}", "is stamped with now, {claim: NAME} or {value: CONSTANT}"),
            (
                "table: things\nstamp: {name: {claim: who}}\ndelete: {set: {name: \"'x'\"}}\nwhere: name <> 'x'",
                "“delete” sets it; leave it out of “delete”"
            ),
            (
                "table: things\ngroups: {n: {column: name, type: boolean, values: {true: a, false: a}}}",
                "“true” and “false” of “values” are the same value"
            ),
            (
                "table: things\nread-only: {n: {column: id, type: boolean, values: {true: 1, false: 0}}}",
                "column “id” identifies or links rows, so it cannot have “values”"
            ),
            (
                "table: parts\ngroups: {n: {column: thing_id, type: boolean, values: {true: 1, false: none}}}",
                "column “thing_id” of type text cannot store “none”"
            ),
            (
                "table: marks\nread-only: {n: {column: kinds, type: boolean, values: {true: a, false: b}}}",
                "identifies or links rows"
            ),
            (
                "table: things\ngroups: {n: {column: name, references: nobody}}",
                "no rule file has the resource “nobody”"
            ),
            ("table: things\nkey: name", "no primary key or unique index of NOT NULL columns"),
            ("table: loose\ngroups: {a: a}", "has no primary key"),
            ("table: isam", "has no transactions"),
            ("table: seen", "is a view"),
            ("table: marks", "column “kinds” of the key of table “marks” is a set"),
        ]) func errors(_ rules: String, _ sentence: String)
    {
        let (catalog, findings) = Self.bind(Self.root(rules))
        #expect(catalog == nil)
        #expect(findings.contains { $0.contains(": error: ") && $0.contains(sentence) }, "\(findings)")
    }

    @Test(
        "undo-columns names columns that can be written",
        arguments: [
            ("[must]", nil), ("all", nil), ("[mus]", "has no column “mus”; did you mean “must”?"),
            ("[stamp]", "column “stamp” cannot be written, because it is generated"),
            ("[shape]", "column “shape” has the type text, which is not supported yet"), ("[]", "names no column"),
        ] as [(String, String?)])
    func undoColumns(_ columns: String, _ sentence: String?) {
        let bound = Self.bind(Self.root("table: things\nundo-columns: \(columns)\ngroups: {name: name}\n"))
        guard let sentence else {
            let kept = bound.catalog?.resources.first?.root.keptColumns
            #expect(kept == ["id", "name", "must"], "\(bound.findings)")
            return
        }
        #expect(bound.catalog == nil && bound.findings.contains { $0.contains(sentence) }, "\(bound.findings)")
    }

    @Test("A required column without a value is a warning") func unfilledColumns() {
        let (catalog, findings) = Self.bind(Self.root("table: things\ngroups: {name: name}"))
        #expect(catalog != nil)
        #expect(findings.count == 2)
        #expect(findings.last?.contains("note: clients do not see columns “must”, “stamp”, “shape”") == true)
        #expect(findings.first?.contains("warning: column “must” of table “things” is NOT NULL") == true)
    }

    @Test(
        "A link that can connect too many rows is a warning",
        arguments: [
            ("parent: {part: name}", true, "so several records may show the same rows"),
            ("parent: {thing_id: id}", false, "keeps a record from having several rows of section “more”"),
        ]) func ambiguousLinks(_ parent: String, _ isList: Bool, _ sentence: String)
    {
        let (_, findings) = Self.bind(
            """
            resource: things
            sections:
              thing: {table: things, groups: {must: must}}
              more: {table: parts, \(isList ? "list: true, " : "")\(parent), read-only: {id: id}}
            """)
        #expect(findings.contains { $0.contains(": warning: ") && $0.contains(sentence) }, "\(findings)")
    }

    @Test("Sections are linked to their root") func links() throws {
        let text =
            Self.root("table: things\ngroups: {name: name, must: must}")
            + "  parts: {list: true, table: parts, parent: {thing_id: id}, groups: {part: part}}\n"
        let resource = try #require(Self.bind(text).catalog?["things"])
        let parts = resource.sections[1]
        #expect(parts.parent.map { parts.columns[$0.column].name } == ["thing_id"])
        #expect(parts.parent.map { resource.root.columns[$0.rootColumn].name } == ["id"])
        #expect(parts.generatedKeyColumn == 0)
    }

    @Test("A foreign key to a section is a reference") func references() throws {
        let other = "resource: parts\nsections:\n  part: {table: parts, groups: {thing: thing_id, part: part}}\n"
        let folder = RuleFolder(texts: [
            ("a.yaml", Self.root("table: things\ngroups: {name: name, must: must}")), ("b.yaml", other),
        ])
        let part = try #require(RuleBinder.bind(folder, to: Self.schema).catalog?["parts"]?.root)
        #expect(part.fields.first?.reference == SectionReference(resource: "things", section: "thing"))
    }

    @Test("Only a change of meaning changes the version") func version() throws {
        let text = Self.root("table: things\ngroups: {name: name, must: must}")
        let version = try #require(Self.bind(text).catalog?.version)
        #expect(Self.bind("# a comment\n" + text).catalog?.version == version)
        #expect(Self.bind(text.replacing("name: name", with: "title: name")).catalog?.version != version)
        #expect(Self.bind(text + "    on-missing: reject\n").catalog?.version != version)
        #expect(Self.bind(text + "    where: name = 'x'\n").catalog?.version != version)
        #expect(Self.bind(text + "    checks: [{name: a, sql: name > ''}]\n").catalog?.version != version)
        #expect(
            Self.bind(text.replacing("name: name", with: "name: {column: name, merge: text}")).catalog?.version
                != version)
    }
}
