import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// The names of two columns are equal in Unicode, so the rules would be ambiguous.
@Suite struct EqualColumnNamesTests {
    private static func findings(columns: [String]) -> [String] {
        let name = TableName(name: "things")
        let table = TableSchema(
            name: name, storage: StorageEngine("InnoDB", isTransactional: true),
            columns: (["id"] + columns).map { column in
                ColumnSchema(
                    name: column, declared: DeclaredType("text", types: [.text(TextType())]),
                    isNullable: column != "id",
                    filling: ColumnFilling(hasDefault: column != "id", isAutoIncrement: false, serverOwned: nil))
            },
            constraints: TableConstraints(primaryKey: ["id"]))
        let rules = "resource: things\nsections:\n  thing: {table: things, groups: {note: \(columns[0])}}\n"
        let schema = DatabaseSchema(tables: [name: table], allNames: ["things"])
        return RuleBinder.bind(RuleFolder(texts: [("f.yaml", rules)]), to: schema).findings.sorted.map(\.description)
    }

    @Test("A table whose columns differ only in the Unicode form of their names is refused")
    func equalNames() {
        let findings = Self.findings(columns: ["caf\u{E9}", "cafe\u{301}"])
        #expect(findings.contains { $0.contains("differ only in their Unicode form") }, "\(findings)")
    }

    @Test("Columns with other names are no finding")
    func otherNames() {
        #expect(Self.findings(columns: ["caf\u{E9}", "cafe"]).allSatisfy { !$0.contains("Unicode") })
    }
}
