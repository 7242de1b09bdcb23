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

    /// The resource that the file describes.
    package var name: String { resource.value }

    /// The tables that the file names.
    package var tables: [TableName] { sections.compactMap { $0.tableName } }
}

/// The one word that `non-transactional` and `client-keys` take.
enum Permission: String, CaseIterable {
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
    let onConflict: Placed<ConflictPolicy>?
    let onMissing: Placed<MissingPolicy>?
    let onDeleteConflict: Placed<DeleteConflictPolicy>?
    let identity: [Placed<String>]
    let visibility: Placed<String>?
    let softDelete: RuleDelete?
    let checks: [RuleCheck]
    /// Where clients may choose keys that the database numbers; nil where they may not.
    let clientKeys: Placed<Permission>?

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
    let onConflict: Placed<ConflictPolicy>?
    let merge: Placed<RuleMerge>?
}

struct RuleField: Sendable, Hashable {
    let name: Placed<String>
    let column: Placed<String>
    let type: Placed<String>?
    let separator: Placed<String>?
    let references: Placed<String>?
    /// The journal keeps no values of it.
    var isPrivate = false
}

/// A merge function as the rules name it.
enum RuleMerge: Sendable, Hashable {
    case plain(PlainMerge)
    /// The member that tells the items of JSON arrays apart.
    case json(itemKey: String)
    /// A field of the group.
    case latest(field: Placed<String>)
}

/// The merge functions that are one word.
enum PlainMerge: String, Sendable, Hashable, CaseIterable {
    case add, max, min, set, text, json
}

/// The assignments that deleting a row writes instead.
struct RuleDelete: Sendable, Hashable {
    let place: Place
    let assignments: [RuleAssignment]
}

/// A column and the operator's SQL for it.
struct RuleAssignment: Sendable, Hashable {
    let column: Placed<String>
    let sql: Placed<String>
}

/// A check as the rules write it.
struct RuleCheck: Sendable, Hashable {
    let name: Placed<String>
    let sql: Placed<String>
    let fields: [Placed<String>]
    let onFailure: CheckFailurePolicy
}

extension Place {
    /// The place as clients and operators are told it; the folder is the operator's own affair.
    var rule: RuleReference {
        let start = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file.utf8.index(after: $0) } ?? file.startIndex
        return RuleReference(file: String(file[start...]), line: line)
    }
}

extension Placed {
    /// The setting with the rule that it comes from.
    var ruled: Ruled<Content> { Ruled(value, rule: place.rule) }
}

/// A piece of SQL that the operator wrote into a rule file.
package struct OperatorSQL: Sendable, Hashable {
    package let resource: String
    package let section: String
    /// The name of it in messages: `“where”`, `check “credit”`.
    package let what: String
    package let sql: Placed<String>
}

extension RuleSection {
    var operatorSQL: [(what: String, sql: Placed<String>)] {
        var all: [(what: String, sql: Placed<String>)] = []
        if let visibility { all.append(("“where”", visibility)) }
        for check in checks { all.append(("check “\(check.name.value)”", check.sql)) }
        for assignment in softDelete?.assignments ?? [] {
            all.append(("“delete.set.\(assignment.column.value)”", assignment.sql))
        }
        return all
    }
}
