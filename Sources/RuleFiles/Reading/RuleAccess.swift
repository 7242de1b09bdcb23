/// The rules of access of a resource as written.
struct RuleAccess: Sendable, Hashable {
    let place: Place
    let roles: [RuleRole]

    /// Columns that some role sets in rows that it creates.
    var supplied: Set<String> { Set(roles.flatMap { $0.set.map(\.column.value) }) }
}

/// The rules for one role as written.
struct RuleRole: Sendable, Hashable {
    let name: Placed<String>
    let read: RuleScope
    let write: RuleScope?
    let creates: Bool
    let deletes: Bool
    /// Columns of the root and what they have to hold; none for every row.
    let rows: [RuleCondition]
    /// The file says which rows, if only `all`.
    let namesRows: Bool
    /// Columns of the root and the claims that they take.
    let set: [RuleClaim]
}

/// The sections and fields that a right names.
enum RuleScope: Sendable, Hashable {
    case all
    /// Sections, or `section.group`.
    case names([Placed<String>])
}

/// A column and the test that it has to meet.
struct RuleCondition: Sendable, Hashable {
    let column: Placed<String>
    let test: RuleTest
}

/// A column and the claim that it takes.
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

/// The side of a comparison that does not stand in the row.
enum RuleOperand: Sendable, Hashable {
    case value(Placed<RuleConstant>)
    case claim(Placed<String>)
}

extension RuleAccess {
    /// The columns of the root that it names.
    var columns: [Placed<String>] { roles.flatMap { $0.rows.map(\.column) + $0.set.map(\.column) } }
}
