import MergeCore
import RecordStore
import RuleFiles
import Testing

/// Merge functions, identities, deletions and checks are bound to columns.
@Suite struct MergeRuleBinderTests: BinderSuite {
    /// A column of each type that merge functions read.
    private static let kinds = TableSchema(
        name: TableName(name: "kinds"), storage: StorageEngine("InnoDB", isTransactional: true),
        columns: [
            column("id", nullable: false, types: [number], isAutoIncrement: true), column("t"),
            column("n", types: [number]), column("f", types: [.float(isUnsigned: false)]),
            column("d", types: [.dateTime(fraction: 0)]), column("s", types: [.set([ExactText("a")])]),
            column("j", types: [.json(TextType())]), column("gone", types: [number]),
            column("made", types: [number], owned: "it is generated"),
        ],
        constraints: TableConstraints(
            primaryKey: ["id"], uniqueIndexes: [UniqueIndex(name: "natural", columns: ["t"])]))

    private static func bindKinds(_ rest: String) -> (catalog: Catalog?, findings: [String]) {
        let schema = DatabaseSchema(tables: [kinds.name: kinds], allNames: ["kinds"])
        let folder = RuleFolder(texts: [("f.yaml", root("table: kinds\n" + rest))])
        let bound = RuleBinder.bind(folder, to: schema)
        return (bound.catalog, bound.findings.sorted.map(\.description))
    }

    @Test(
        "Each rule of merging that does not fit is an error",
        arguments: [
            ("groups: {t: {column: t, merge: add}}", "“merge: add” serves numbers, and column “t” is of type text"),
            ("groups: {t: {column: t, merge: set}}", "“type: set” makes a set of a delimited text"),
            ("groups: {t: {column: t, merge: json}}", "“type: json” makes JSON of a text"),
            ("groups: {n: {column: n, merge: text}}", "“merge: text” serves text, and column “n” is of type integer"),
            ("groups: {j: {column: j, merge: max}}", "“merge: max” serves types that have an order"),
            ("groups: {g: {fields: {n: n, f: f}, merge: add}}", "group “g” has 2 fields"),
            ("groups: {g: {fields: {n: n, t: t}, merge: {latest: n}}}", "column “n” is of type integer, none of date"),
            ("groups: {g: {fields: {t: t, at: d}, merge: {latest: on}}}", "group “g” has no field “on”"),
            ("groups: {t: t}\nidentity: [nobody]", "has no column “nobody”"),
            ("groups: {t: t}\ndelete: {set: {gon: 1}}", "has no column “gon”; did you mean “gone”?"),
            ("groups: {t: t}\ndelete: {set: {id: 1}}", "column “id” is the key, which a deletion cannot change"),
            ("groups: {t: t}\ndelete: {set: {made: 1}}", "column “made” cannot be written, because it is generated"),
            ("groups: {t: t}\nchecks: [{name: c, sql: n > 0, fields: [x]}]", "the section has no field “x”"),
            (
                "groups: {pair: {fields: {t: t, n: n}}}\nchecks: [{name: c, sql: n > 0, fields: [pair]}]",
                "“pair” is a group; name its fields t, n"
            ),
            (
                "groups: {t: t}\nchecks: [{name: c, sql: n > 0, on-failure: server-wins}]",
                "takes the check's fields back, and this check names none"
            ),
        ]) func errors(_ rules: String, _ sentence: String)
    {
        let (catalog, findings) = Self.bindKinds(rules)
        #expect(catalog == nil)
        #expect(findings.contains { $0.contains(": error: ") && $0.contains(sentence) }, "\(findings)")
    }

    @Test("An identity that no client can send is a warning") func unsentIdentity() {
        let (catalog, findings) = Self.bindKinds("groups: {t: t}\nidentity: [n]")
        #expect(catalog != nil)
        #expect(
            findings.contains { $0.contains(": warning: column “n” is in no group and set for no role") }, "\(findings)"
        )
    }

    @Test("Rules of merging are bound to fields and columns") func bound() throws {
        let (catalog, findings) = Self.bindKinds(
            """
            identity: [t]
            where: gone = 0
            delete: {set: {gone: 1}}
            groups:
              t: {column: t, merge: text}
              n: {column: n, merge: add}
              s: {column: s, merge: set}
              at: {fields: {f: f, d: d}, merge: {latest: d}}
              j: {column: j, merge: {json: id}}
            checks: [{name: c, sql: n > 0}]
            """)
        let section = try #require(catalog?["things"]?.root, "\(findings)")
        #expect(!findings.contains { $0.contains(": warning: ") }, "\(findings)")
        #expect(
            section.groups.map(\.merge?.value) == [
                .text, .add, .set, .latest(field: 1), .json(itemKey: ExactText("id")),
            ])
        #expect(section.groups.first?.merge?.rule.text == "f.yaml:9")
        #expect(section.identity?.value.map { section.columns[$0].name } == ["t"])
        #expect(section.checks.first?.fields.map { section.fields[$0].name } == ["n"])
        #expect(section.softDelete?.rule.text == "f.yaml:7")
    }

    @Test(
        "Rules of merging that may fail later are warnings",
        arguments: [
            ("groups: {t: t, n: n}\nidentity: [n]", "no unique index of table “kinds” has these columns"),
            ("groups: {t: t}\ndelete: {set: {gone: 1}}", "no “where” tests the columns that “delete” sets"),
            (
                "groups: {t: t}\nwhere: n > 0\ndelete: {set: {gone: 1}}",
                "no “where” tests the columns that “delete” sets"
            ),
            ("groups: {f: {column: f, merge: add}}", "column “f” is a float, which stores few sums exactly"),
            (
                "groups: {t: {column: t, private: true}}\non-missing: restore",
                "a restored row has the database's default in “t”"
            ),
        ]) func warnings(_ rules: String, _ sentence: String)
    {
        let (catalog, findings) = Self.bindKinds(rules)
        #expect(catalog != nil)
        #expect(findings.contains { $0.contains(": warning: ") && $0.contains(sentence) }, "\(findings)")
    }
}
