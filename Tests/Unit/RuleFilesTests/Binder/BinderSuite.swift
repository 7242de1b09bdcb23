import MergeCore
import RecordStore
import RuleFiles
import Testing

/// A suite that binds rules to a schema.
protocol BinderSuite {}

extension BinderSuite {
    static func column(
        _ name: String, nullable: Bool = true, types: [ColumnType] = [.text(TextType())], owned: String? = nil,
        isAutoIncrement: Bool = false
    ) -> ColumnSchema {
        ColumnSchema(
            name: name, declared: DeclaredType("text", types: types), isNullable: nullable,
            filling: ColumnFilling(
                hasDefault: nullable || isAutoIncrement, isAutoIncrement: isAutoIncrement, serverOwned: owned))
    }

    static var number: ColumnType { .integer(0...100) }

    static func table(
        _ name: String, _ columns: [ColumnSchema], key: [String], isTransactional: Bool = true,
        form: TableForm = .table, foreignKeys: [ForeignKey] = []
    ) -> TableSchema {
        TableSchema(
            name: TableName(name: name), form: form,
            storage: StorageEngine("MyISAM", isTransactional: isTransactional), columns: columns,
            constraints: TableConstraints(primaryKey: key, foreignKeys: foreignKeys))
    }

    static var schema: DatabaseSchema {
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
    }

    static func bind(_ text: String) -> (catalog: Catalog?, findings: [String]) {
        let bound = RuleBinder.bind(RuleFolder(texts: [("f.yaml", text)]), to: schema)
        return (bound.catalog, bound.findings.sorted.map(\.description))
    }

    static func root(_ rest: String) -> String {
        "resource: things\nsections:\n  thing:\n" + rest.split(separator: "\n").map { "    \($0)\n" }.joined()
    }
}
