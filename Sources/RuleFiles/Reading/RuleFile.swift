package import MergeCore

/// Something that stands in a rule file, with its place.
package struct Placed<Content: Sendable & Hashable>: Sendable, Hashable {
    package let value: Content
    package let place: Place
}

/// One rule file as written, before it meets the schema.
package struct RuleFile: Sendable, Hashable {
    let resource: Placed<String>
    let description: String?
    /// The operator accepts that pushes to tables without transactions are not atomic.
    let allowsNonTransactional: Bool
    let sections: [RuleSection]

    /// The tables that the file names.
    package var tables: [TableName] { sections.compactMap { $0.tableName } }
}

/// The one word that `non-transactional` takes.
enum NonTransactionalPermission: String, CaseIterable {
    case allow
}

struct RuleSection: Sendable, Hashable {
    let name: Placed<String>
    let isList: Bool
    let table: Placed<String>?
    let schema: Placed<String>?
    let key: [Placed<String>]
    let parent: [RuleLink]
    let order: [Placed<String>]
    let groups: [RuleGroup]
    let readOnly: [RuleField]
    let onConflict: ConflictPolicy
    let onMissing: MissingPolicy
    let onDeleteConflict: DeleteConflictPolicy

    var tableName: TableName? { table.map { TableName(schema: schema?.value, name: $0.value) } }
}

/// A column of a section and the root's column that it follows; nil where the short form leaves it open.
struct RuleLink: Sendable, Hashable {
    let column: Placed<String>
    let rootColumn: Placed<String>?
}

struct RuleGroup: Sendable, Hashable {
    let name: Placed<String>
    let fields: [RuleField]
    let onConflict: ConflictPolicy?
}

struct RuleField: Sendable, Hashable {
    let name: Placed<String>
    let column: Placed<String>
    let type: Placed<String>?
    let separator: Placed<String>?
    let references: Placed<String>?
}
