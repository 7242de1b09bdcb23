import MergeCore
import RecordStore
import RuleFiles
import Testing

@testable import MariaDBStore

/// Warnings about the database, and the rights that the rules need.
@Suite struct BinderAdviceTests: BinderSuite {
    /// A table that causes each of these warnings.
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

    @Test("Constraints that a merge can violate are warnings") func constraints() throws {
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

    @Test("The grants are the rights that the rules need") func grants() throws {
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
}
