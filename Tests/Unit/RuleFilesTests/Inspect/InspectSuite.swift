import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// A suite of the drafts that `fieldmerge inspect` makes of a schema.
protocol InspectSuite {}

extension InspectSuite {
    static var text: ColumnType { .text(TextType()) }
    static var number: ColumnType { .integer(-1_000...1_000) }
    static var flag: ColumnType { .integer(-128...127) }
    static var money: ColumnType { .decimal(precision: 9, scale: 2, isUnsigned: false) }
    static var moment: ColumnType { .dateTime(fraction: 0) }

    static func column(
        _ name: String, _ type: ColumnType? = text, declared: String = "varchar(9)", nullable: Bool = true,
        hasDefault: Bool? = nil, isAutoIncrement: Bool = false, owned: String? = nil
    ) -> ColumnSchema {
        ColumnSchema(
            name: name,
            declared: DeclaredType(declared, types: type.map { $0 == flag ? [$0, .boolean] : [$0] } ?? []),
            isNullable: nullable,
            filling: ColumnFilling(
                hasDefault: hasDefault ?? nullable, isAutoIncrement: isAutoIncrement, serverOwned: owned))
    }

    static func id(_ name: String = "id") -> ColumnSchema { column(name, number, nullable: false) }

    static func table(
        _ name: String, key: [String] = ["id"], _ columns: [ColumnSchema], unique: [[String]] = [],
        to keys: [([String], String, [String])] = [], isView: Bool = false,
        isTransactional: Bool = true
    ) -> TableSchema {
        TableSchema(
            name: TableName(name: name), form: isView ? .view(isUpdatable: true) : .table,
            storage: StorageEngine(isTransactional ? "InnoDB" : "MyISAM", isTransactional: isTransactional),
            columns: columns,
            constraints: TableConstraints(
                primaryKey: key,
                uniqueIndexes: unique.map { UniqueIndex(name: $0.joined(separator: "_"), columns: $0) },
                foreignKeys: keys.map {
                    ForeignKey(
                        name: "fk_" + $0.0.joined(separator: "_"), columns: $0.0, target: TableName(name: $0.1),
                        targetColumns: $0.2)
                }))
    }

    static func schema(_ tables: [TableSchema]) -> DatabaseSchema {
        DatabaseSchema(
            tables: Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) }), allNames: tables.map(\.name.name))
    }

    /// Inspects tables, and binds the drafts to the same tables without an error.
    static func inspect(
        _ tables: [TableSchema], takesSecrets: Bool = false
    ) throws -> (catalog: Catalog, inspection: Inspection) {
        let schema = schema(tables)
        let inspection = Inspection(schema, takesSecrets: takesSecrets)
        let folder = RuleFolder(texts: inspection.files.map { ($0.name, $0.text) })
        let bound = RuleBinder.bind(folder, to: schema)
        let findings = bound.findings.sorted.map(\.description).joined(separator: "\n")
        let texts = inspection.files.map(\.text).joined()
        return (try #require(bound.catalog, "\(findings)\n\(texts)"), inspection)
    }

    /// The groups `name: columns` of a table that has a key `id` and these columns.
    static func groups(_ columns: [ColumnSchema], in name: String = "things") throws -> [String] {
        let root = try #require(try inspect([table(name, [id()] + columns)]).catalog.resources.first?.root)
        return root.groups.map { group in
            group.name + ": " + root.fields[group.fields].map { root.columns[$0.column].name }.joined(separator: " ")
        }
    }

    static func file(_ tables: [TableSchema]) throws -> (text: String, summary: String) {
        let inspection = try inspect(tables).inspection
        return (
            inspection.files.map(\.text).joined(separator: "\n"), inspection.summary.lines.joined(separator: "\n")
        )
    }

    /// Each section as `resource.section kind link=column`.
    static func shape(_ tables: [TableSchema]) throws -> [String] {
        try inspect(tables).catalog.resources.flatMap { resource in
            resource.sections.map { section in
                let links = section.parent.map {
                    " \(section.columns[$0.column].name)=\(resource.root.columns[$0.rootColumn].name)"
                }
                return "\(resource.name).\(section.name) \(section.kind.rawValue)" + links.joined()
            }
        }
    }

    static var orders: TableSchema {
        table(
            "orders", key: ["no"], [column("no", nullable: false), id("customer")],
            to: [(["customer"], "customers", ["id"])])
    }

    static var customers: TableSchema { table("customers", [id(), column("name")]) }

    static func child(
        _ name: String, key: [String] = ["id"], nullable: Bool = false, unique: [[String]] = [],
        of parents: [(String, String)]
    ) -> TableSchema {
        let links = parents.map { column($0.0, number, nullable: nullable) }
        return table(
            name, key: key, (key == ["id"] ? [id()] : []) + links + [column("text")], unique: unique,
            to: parents.map { ([$0.0], $0.1, ["id"]) })
    }
}
