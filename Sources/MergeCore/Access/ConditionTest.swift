/// A test of one column in an access condition, as in the rules.
package indirect enum ConditionTest: Sendable, Hashable {
    case value(Value)
    /// The column equals the claim, or an element of the claim if it is a list.
    case claim(String)
    case null
    case not(ConditionTest)
    case any([ConditionTest])
    case before(ConditionOperand)
    case after(ConditionOperand)

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

/// The value that a column is compared with.
package enum ConditionOperand: Sendable, Hashable {
    case value(Value)
    case claim(String)
}

/// A test of one column of a resource's root.
package struct RowCondition: Sendable, Hashable {
    /// The position of the column in the root's `columns`.
    package let column: Int
    /// The test of the column.
    package let test: ConditionTest

    /// Tests a column.
    package init(column: Int, test: ConditionTest) {
        self.column = column
        self.test = test
    }
}
