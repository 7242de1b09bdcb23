import MergeCore
import RecordStore
import RuleFiles
import Testing

/// Lookups and conditions that read a column along a foreign key.
@Suite struct LookupBinderTests: BinderSuite {
    @Test("A lookup reads a column along a foreign key")
    func lookup() throws {
        let (catalog, findings) = Self.bind(
            Self.root("table: parts\ngroups: {part: part}\nlookups: {thing: {along: thing_id, column: name}}\n"))
        let root = try #require(catalog?.resources.first?.root, "\(findings)")
        #expect(root.readOnly.map(\.name) == ["thing"])
        #expect(root.columns.last?.lookup?.table == TableName(name: "things"))
        #expect(!root.keptColumns.contains("thing_id.name"))
    }

    @Test(
        "A lookup that cannot be read is a finding",
        arguments: [
            ("{along: part, column: name}", "column “part” of table “parts” has no foreign key"),
            ("{along: thing_id, column: nam}", "table “things” has no column “nam”; did you mean “name”?"),
            ("{along: thing, column: name}", "table “parts” has no column “thing”"),
            ("{along: thing_id}", "lookup “thing” has no “column”"),
            ("{along: thing_id, column: name, type: text}", "“type” is not a key of a lookup"),
            ("{along: thing_id, column: shape}", "which a lookup cannot read"),
        ])
    func refusedLookup(_ lookup: String, _ words: String) {
        let (catalog, findings) = Self.bind(
            Self.root("table: parts\ngroups: {part: part}\nlookups: {thing: \(lookup)}\n"))
        #expect(catalog == nil)
        #expect(findings.contains { $0.contains(words) }, "\(findings)")
    }

    @Test(
        "Claims of roles, orders and identities name no column of a lookup",
        arguments: [
            (
                "access: {r: {read: all, set: {thing_id.name: {claim: who}}}}", "",
                "a role cannot set “thing_id.name”"
            ),
            ("", "    identity: [thing_id.name]\n", "thing_id.name"),
        ])
    func lookupElsewhere(_ access: String, _ more: String, _ words: String) {
        let section = "table: parts\ngroups: {part: part}\nlookups: {thing: {along: thing_id, column: name}}\n"
        let (catalog, findings) = Self.bind(Self.root(section) + more + access + "\n")
        #expect(catalog == nil)
        #expect(findings.contains { $0.contains("error") && $0.contains(words) }, "\(findings)")
    }

    @Test("A condition tests a column along a foreign key, with or without a lookup of it")
    func condition() throws {
        for lookups in ["", "lookups: {thing: {along: thing_id, column: name}}\n"] {
            let (catalog, findings) = Self.bind(
                Self.root("table: parts\ngroups: {part: part}\n" + lookups)
                    + "access: {r: {read: all, rows: {thing_id.name: {claim: who}}}}\n")
            let resource = try #require(catalog?.resources.first, "\(findings)")
            #expect(resource.access?.steps.map(\.table) == [TableName(name: "things")])
            #expect(resource.root.columns.filter { $0.lookup != nil }.map(\.name) == ["thing_id.name"])
            #expect(resource.root.readOnly.count == (lookups.isEmpty ? 0 : 1))
        }
    }

    @Test(
        "A condition along a reference that cannot be tested is a finding",
        arguments: [
            ("thing_id.name.first: {claim: who}", "follows several references, and a condition follows one"),
            ("thing_id.nam: {claim: who}", "table “things” has no column “nam”; did you mean “name”?"),
            ("thingid.name: {claim: who}", "has no column “thingid”; did you mean “thing_id”?"),
            ("part.name: {claim: who}", "column “part” of table “parts” has no foreign key"),
            ("thing_id.must: {claim: who}", "column “must” is private"),
            ("thing_id.shape: {claim: who}", "which a condition cannot read"),
        ])
    func refusedCondition(_ condition: String, _ words: String) {
        let parts =
            Self.root("table: parts\ngroups: {part: part}\n") + "access: {r: {read: all, rows: {\(condition)}}}\n"
        let things =
            "resource: others\nsections: {thing: {table: things, groups: {name: name, must: {column: must, private: true}}}}\n"
        let folder = RuleFolder(texts: [("parts.yaml", parts), ("things.yaml", things)])
        let bound = RuleBinder.bind(folder, to: Self.schema)
        let findings = bound.findings.sorted.map(\.description)
        #expect(bound.catalog == nil)
        #expect(findings.contains { $0.contains("parts.yaml:") && $0.contains(words) }, "\(findings)")
    }

    @Test(
        "A lookup that shows a role a row which no resource shows to it is a warning",
        arguments: [
            ("access: {r: {read: all, rows: all}}", 0), ("access: {r: {read: all, rows: {name: {claim: who}}}}", 1),
            ("access: {r: {read: [thing.must], rows: all}}", 1), ("access: {s: {read: all, rows: all}}", 1), ("", 0),
        ])
    func hiddenLookup(_ access: String, _ count: Int) {
        let parts = """
            resource: parts
            sections:
              part: {table: parts, groups: {part: part}, lookups: {thing: {along: thing_id, column: name}}}
            access: {r: {read: all, rows: all}, q: {read: [part.part], rows: all}}
            """
        let things = "resource: things\nsections: {thing: {table: things, groups: {name: name, must: must}}}\n" + access
        let folder = RuleFolder(texts: [("parts.yaml", parts), ("things.yaml", things)])
        let findings = RuleBinder.bind(folder, to: Self.schema).findings.sorted.map(\.description)
        let found = findings.filter {
            $0.contains("parts.yaml:3:") && $0.contains("role “r” reads “thing” also from rows")
        }
        #expect(found.count == count, "\(findings)")
        #expect(!findings.contains { $0.contains("role “q” reads") }, "\(findings)")
    }
}
