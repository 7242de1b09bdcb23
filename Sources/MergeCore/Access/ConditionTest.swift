/// A test of one column in a condition of access, as the rules write it.
package indirect enum ConditionTest: Sendable, Hashable {
    /// The column holds this value.
    case value(Value)
    /// The column holds what the token claims, or one of it where that is a list.
    case claim(String)
    /// The column is NULL.
    case null
    case not(ConditionTest)
    /// One of the tests at least is met.
    case any([ConditionTest])
    /// The column comes before a value.
    case before(ConditionOperand)
    /// The column comes after a value.
    case after(ConditionOperand)

    /// The claims that it looks at.
    var claims: [String] {
        switch self {
        case .value, .null: []
        case .claim(let name): [name]
        case .not(let test): test.claims
        case .any(let tests): tests.flatMap(\.claims)
        case .before(.claim(let name)), .after(.claim(let name)): [name]
        case .before(.value), .after(.value): []
        }
    }
}

/// The side of a comparison that does not stand in the row.
package enum ConditionOperand: Sendable, Hashable {
    case value(Value)
    case claim(String)
}

/// A test of one column of a resource's root.
package struct RowCondition: Sendable, Hashable {
    /// The position of the column in the root's `columns`.
    package let column: Int
    /// The test that it has to meet.
    package let test: ConditionTest

    /// Tests a column.
    package init(column: Int, test: ConditionTest) {
        self.column = column
        self.test = test
    }
}
