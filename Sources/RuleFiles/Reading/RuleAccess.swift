/// The access rules of a resource as written.
struct RuleAccess: Sendable, Hashable {
    let place: Place
    let roles: [RuleRole]

    /// The columns that a role sets in new rows.
    var supplied: Set<String> { Set(roles.flatMap { $0.set.map(\.column.value) }) }
}

/// The rules for one role as written.
struct RuleRole: Sendable, Hashable {
    let name: Placed<String>
    let read: RuleScope
    let write: RuleScope?
    let creates: Bool
    /// The sections and groups that only a creation may set.
    let initial: [Placed<String>]
    let deletes: Bool
    /// The conditions on columns of the root; none for every row.
    let rows: [RuleCondition]
    /// True if the file contains `rows`, even if only `all`.
    let namesRows: Bool
    /// The columns of the root that are set from claims.
    let set: [RuleClaim]
}

/// The sections and fields of a right.
enum RuleScope: Sendable, Hashable {
    case all
    /// Sections, or `section.group`.
    case names([Placed<String>])
}

struct RuleCondition: Sendable, Hashable {
    let column: Placed<String>
    let test: RuleTest
}

struct RuleClaim: Sendable, Hashable {
    let column: Placed<String>
    let claim: Placed<String>
}

/// A test of a column as written.
indirect enum RuleTest: Sendable, Hashable {
    case value(Placed<RuleConstant>)
    case claim(Placed<String>)
    case null
    case not(RuleTest)
    case any([RuleTest])
    case before(RuleOperand)
    case after(RuleOperand)
}

/// The value that a column is compared with.
enum RuleOperand: Sendable, Hashable {
    case value(Placed<RuleConstant>)
    case claim(Placed<String>)
}

extension RuleAccess {
    /// The columns of the root that the rules name.
    var columns: [Placed<String>] { roles.flatMap { $0.rows.map(\.column) + $0.set.map(\.column) } }

    /// The columns that conditions test, of the root or of referred rows.
    var tested: [Placed<String>] { roles.flatMap { $0.rows.map(\.column) } }
}
