import MergeCore
import RecordStore
import RuleFiles
import Testing

@testable import MariaDBStore

/// Rules against a schema: what does not fit is named, and what fits is bound to typed columns.
@Suite struct RuleBinderTests {
    private static func column(
        _ name: String, nullable: Bool = true, types: [ColumnType] = [.text(TextType())], owned: String? = nil,
        isAutoIncrement: Bool = false
    ) -> ColumnSchema {
        ColumnSchema(
            name: name, declared: DeclaredType("text", types: types), isNullable: nullable,
            filling: ColumnFilling(
                hasDefault: nullable || isAutoIncrement, isAutoIncrement: isAutoIncrement, serverOwned: owned))
    }

    private static let number = ColumnType.integer(0...100)

    private static func table(
        _ name: String, _ columns: [ColumnSchema], key: [String], isTransactional: Bool = true,
        form: TableForm = .table, foreignKeys: [ForeignKey] = []
    ) -> TableSchema {
        TableSchema(
            name: TableName(name: name), form: form,
            storage: StorageEngine("MyISAM", isTransactional: isTransactional), columns: columns,
            constraints: TableConstraints(primaryKey: key, foreignKeys: foreignKeys))
    }

    private static let schema: DatabaseSchema = {
        let id = column("id", nullable: false, types: [number], isAutoIncrement: true)
        let tables = [
            table(
                "things",
                [
                    id, column("name"), column("must", nullable: false), column("stamp", owned: "it is generated"),
                    column("shape", types: []),
                ], key: ["id"]),
            table(
                "parts", [id, column("thing_id", types: [number]), column("part")], key: ["id"],
                foreignKeys: [
                    ForeignKey(
                        name: "fk", columns: ["thing_id"], target: TableName(name: "things"), targetColumns: ["id"])
                ]),
            table(
                "states",
                [
                    id, column("state", types: [.enumeration([ExactText("new"), ExactText("open")])]),
                    column("gone", nullable: false, types: [number]),
                ], key: ["id"]),
            table("loose", [column("a"), column("b")], key: []),
            table(
                "links",
                [column("thing", nullable: false, types: [number]), column("part", nullable: false, types: [number])],
                key: ["thing", "part"],
                foreignKeys: [
                    ForeignKey(name: "fk", columns: ["part"], target: TableName(name: "parts"), targetColumns: ["id"])
                ]),
            table(
                "pages",
                [
                    column("chapter", nullable: false), column("page", nullable: false, types: [number]),
                    column("title"),
                ],
                key: ["chapter", "page"]),
            table("isam", [id], key: ["id"], isTransactional: false),
            table("seen", [id], key: ["id"], form: .view(isUpdatable: false)),
            table("marks", [column("kinds", nullable: false, types: [.set([ExactText("a")])]), id], key: ["kinds"]),
        ]
        return DatabaseSchema(
            tables: Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) }), allNames: tables.map(\.name.name))
    }()

    private static func bind(_ text: String) -> (catalog: Catalog?, findings: [String]) {
        let bound = RuleBinder.bind(RuleFolder(texts: [("f.yaml", text)]), to: schema)
        return (bound.catalog, bound.findings.sorted.map(\.description))
    }

    private static func root(_ rest: String) -> String {
        "resource: things\nsections:\n  thing:\n" + rest.split(separator: "\n").map { "    \($0)\n" }.joined()
    }

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

    @Test(arguments: [
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
        ("table: states\nwhere: state <> 'gone'\ndelete: {set: {state: \"'gone'\"}}", "cannot store this value: it"),
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
        ("table: things\ngroups: {n: {column: name, references: nobody}}", "no rule file has the resource “nobody”"),
        ("table: things\nkey: name", "no primary key or unique index of NOT NULL columns"),
        ("table: loose\ngroups: {a: a}", "has no primary key"),
        ("table: isam", "has no transactions"),
        ("table: seen", "is a view"),
        ("table: marks", "column “kinds” of the key of table “marks” is a set"),
    ]) func whatDoesNotFitIsNamed(_ rules: String, _ sentence: String) {
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

    @Test func aColumnThatNobodyFillsIsAWarning() {
        let (catalog, findings) = Self.bind(Self.root("table: things\ngroups: {name: name}"))
        #expect(catalog != nil)
        #expect(findings.count == 2)
        #expect(findings.last?.contains("note: clients do not see columns “must”, “stamp”, “shape”") == true)
        #expect(findings.first?.contains("warning: column “must” of table “things” is NOT NULL") == true)
    }

    /// A table with a column of each kind that a merge function may meet.
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

    @Test(arguments: [
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
    ]) func rulesOfMergingThatDoNotFitAreNamed(_ rules: String, _ sentence: String) {
        let (catalog, findings) = Self.bindKinds(rules)
        #expect(catalog == nil)
        #expect(findings.contains { $0.contains(": error: ") && $0.contains(sentence) }, "\(findings)")
    }

    /// It recognises nothing, and does no harm.
    @Test func anIdentityThatNobodySendsIsWarnedOf() {
        let (catalog, findings) = Self.bindKinds("groups: {t: t}\nidentity: [n]")
        #expect(catalog != nil)
        #expect(
            findings.contains { $0.contains(": warning: column “n” is in no group and set for no role") }, "\(findings)"
        )
    }

    /// Rows that may belong to several records, or be several where a record may have one.
    @Test(arguments: [
        ("parent: {part: name}", true, "so several records may show the same rows"),
        ("parent: {thing_id: id}", false, "keeps a record from having several rows of section “more”"),
    ]) func linksThatTieTooMuchAreWarnedOf(_ parent: String, _ isList: Bool, _ sentence: String) {
        let (_, findings) = Self.bind(
            """
            resource: things
            sections:
              thing: {table: things, groups: {must: must}}
              more: {table: parts, \(isList ? "list: true, " : "")\(parent), read-only: {id: id}}
            """)
        #expect(findings.contains { $0.contains(": warning: ") && $0.contains(sentence) }, "\(findings)")
    }

    @Test func rulesOfMergingAreBound() throws {
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

    @Test(arguments: [
        ("groups: {t: t, n: n}\nidentity: [n]", "no unique index of table “kinds” has these columns"),
        ("groups: {t: t}\ndelete: {set: {gone: 1}}", "no “where” tests the columns that “delete” sets"),
        ("groups: {t: t}\nwhere: n > 0\ndelete: {set: {gone: 1}}", "no “where” tests the columns that “delete” sets"),
        ("groups: {f: {column: f, merge: add}}", "column “f” is a float, which stores few sums exactly"),
        (
            "groups: {t: {column: t, private: true}}\non-missing: restore",
            "a restored row has the database's default in “t”"
        ),
    ]) func whatMayGoWrongIsAWarning(_ rules: String, _ sentence: String) {
        let (catalog, findings) = Self.bindKinds(rules)
        #expect(catalog != nil)
        #expect(findings.contains { $0.contains(": warning: ") && $0.contains(sentence) }, "\(findings)")
    }

    @Test func partsAreTiedToTheirRecord() throws {
        let text =
            Self.root("table: things\ngroups: {name: name, must: must}")
            + "  parts: {list: true, table: parts, parent: {thing_id: id}, groups: {part: part}}\n"
        let resource = try #require(Self.bind(text).catalog?["things"])
        let parts = resource.sections[1]
        #expect(parts.parent.map { parts.columns[$0.column].name } == ["thing_id"])
        #expect(parts.parent.map { resource.root.columns[$0.rootColumn].name } == ["id"])
        #expect(parts.generatedKeyColumn == 0)
    }

    @Test func foreignKeysAreReferences() throws {
        let other = "resource: parts\nsections:\n  part: {table: parts, groups: {thing: thing_id, part: part}}\n"
        let folder = RuleFolder(texts: [
            ("a.yaml", Self.root("table: things\ngroups: {name: name, must: must}")), ("b.yaml", other),
        ])
        let part = try #require(RuleBinder.bind(folder, to: Self.schema).catalog?["parts"]?.root)
        #expect(part.fields.first?.reference == SectionReference(resource: "things", section: "thing"))
    }

    @Test func theVersionIsTheMeaning() throws {
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

    /// A table with everything that `check` warns about.
    private static let risky: TableSchema = TableSchema(
        name: TableName(name: "risky"), storage: StorageEngine("InnoDB", isTransactional: true),
        columns: [
            column("id", nullable: false, types: [number], isAutoIncrement: true), column("a"), column("b"),
            column("f", types: [.float(isUnsigned: false)]), column("unseen"),
        ],
        constraints: TableConstraints(
            primaryKey: ["id"],
            uniqueIndexes: [
                UniqueIndex(name: "PRIMARY", columns: ["id"]), UniqueIndex(name: "both", columns: ["a", "b"]),
            ],
            foreignKeys: [
                ForeignKey(name: "pair", columns: ["a", "b"], target: TableName(name: "x"), targetColumns: ["a", "b"])
            ], checks: ["order": "`a` <= `b`", "alone": "`a` <> ''"]),
        triggers: ["log_it"], rights: ["SELECT", "UPDATE"])

    @Test func adviceNamesWhatAMergeCanBreak() throws {
        let dependent = Dependent(
            constraint: "fk", table: TableName(name: "hidden"), columns: ["r"], target: Self.risky.name,
            targetColumns: ["id"],
            onDelete: .delete)
        let schema = DatabaseSchema(
            tables: [Self.risky.name: Self.risky], allNames: ["risky"], dependents: [Self.risky.name: [dependent]])
        let text = "resource: risky\nsections:\n  r: {table: risky, groups: {a: a, b: b, f: f}}\n"
        let bound = RuleBinder.bind(RuleFolder(texts: [("f.yaml", text)]), to: schema)
        let found = bound.findings.sorted.map(\.description)
        #expect(bound.catalog != nil)
        for (severity, sentence) in [
            ("warning", "the unique index “both” of table “risky” looks at the groups “a”, “b”"),
            ("warning", "the foreign key “pair” of table “risky” looks at the groups “a”, “b”"),
            ("warning", "the CHECK “order” of table “risky” looks at the groups “a”, “b”"),
            ("warning", "deleting a row of table “risky” deletes rows of table “hidden”"),
            ("note", "table “risky” has triggers (log_it)"), ("note", "field “f” is a FLOAT"),
            ("note", "clients do not see column “unseen”"),
        ] {
            #expect(found.contains { $0.contains(": \(severity): \(sentence)") }, "\(sentence) in \(found)")
        }
        #expect(found.count == 7, "\(found)")
        let together = text.replacing("a: a, b: b", with: "ab: {fields: {a: a, b: b}}")
        let quiet = RuleBinder.bind(RuleFolder(texts: [("f.yaml", together)]), to: schema).findings
        #expect(!quiet.all.contains { $0.sentence.contains("looks at the groups") })
    }

    @Test func grantsAreThoseThatTheRulesNeed() throws {
        let text = "resource: risky\nsections:\n  r: {table: risky, groups: {a: a}}\n"
        let reading = "resource: parts\nsections:\n  p: {table: parts, read-only: {part: part}}\n"
        var tables = Self.schema.tables
        tables[Self.risky.name] = Self.risky
        let gone = Dependent(
            constraint: "k", table: TableName(name: "gone"), columns: ["risky"], target: Self.risky.name,
            targetColumns: ["a"], onDelete: .delete)
        let schema = DatabaseSchema(
            tables: tables, allNames: [], name: "sh`op", dependents: [Self.risky.name: [gone]])
        let folder = RuleFolder(texts: [("a.yaml", text), ("b.yaml", reading)])
        let catalog = try #require(RuleBinder.bind(folder, to: schema).catalog)
        #expect(
            GrantStatements(catalog, in: schema, to: "'f'@'h'", as: MariaDBDialect()).onTables == [
                "GRANT SELECT, INSERT, UPDATE, DELETE ON `sh``op`.`gone` TO 'f'@'h';",
                "GRANT SELECT ON `sh``op`.`parts` TO 'f'@'h';",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON `sh``op`.`risky` TO 'f'@'h';",
            ])
    }

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
