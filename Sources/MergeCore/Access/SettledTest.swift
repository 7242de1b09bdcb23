/// A test of one column with a token's claims as values.
package indirect enum SettledTest: Sendable, Hashable {
    /// No row meets the test, because a claim is missing or unusable for the column.
    case never
    /// The column contains one of these values.
    case oneOf([Value])
    case null
    /// The column is not NULL and does not meet the test.
    case not(SettledTest)
    case any([SettledTest])
    case all([SettledTest])
    case before(Value)
    case after(Value)

    /// Replaces claims in a test by their values.
    ///
    /// A missing claim under `not` makes the whole `not` false. Elsewhere it makes only its own test false.
    package init(_ test: ConditionTest, of column: Column, for viewer: Viewer) {
        self = Self.settle(test, of: column, for: viewer) ?? .never
    }

    /// Returns nil if a claim is missing.
    private static func settle(_ test: ConditionTest, of column: Column, for viewer: Viewer) -> SettledTest? {
        switch test {
        case .value(let value): return .oneOf([value])
        case .claim(let name): return viewer.values(of: name, in: column).map { .oneOf($0) }
        case .null: return .null
        case .not(let denied):
            guard isWhole(denied, of: column, for: viewer) else { return nil }
            return settle(denied, of: column, for: viewer).map { .not($0) }
        case .any(let tests):
            let settled = tests.compactMap { settle($0, of: column, for: viewer) }
            return settled.isEmpty ? nil : .any(settled)
        case .before(let operand): return value(operand, of: column, for: viewer).map { .before($0) }
        case .after(let operand): return value(operand, of: column, for: viewer).map { .after($0) }
        }
    }

    private static func value(_ operand: ConditionOperand, of column: Column, for viewer: Viewer) -> Value? {
        switch operand {
        case .value(let value): value
        case .claim(let name): viewer.value(of: name, in: column)
        }
    }

    /// Returns true if no claim of a test is missing.
    private static func isWhole(_ test: ConditionTest, of column: Column, for viewer: Viewer) -> Bool {
        switch test {
        case .not(let denied): isWhole(denied, of: column, for: viewer)
        case .any(let tests): tests.allSatisfy { isWhole($0, of: column, for: viewer) }
        default: settle(test, of: column, for: viewer) != nil
        }
    }

    /// Returns true if a value of the column meets the test.
    ///
    /// NULL meets only `null`.
    package func isMet(by value: Value, of type: ColumnType) -> Bool {
        switch self {
        case .never: false
        case .null: value.isNull
        case .any(let tests): tests.contains { $0.isMet(by: value, of: type) }
        case .all(let tests): tests.allSatisfy { $0.isMet(by: value, of: type) }
        case _ where value.isNull: false
        case .oneOf(let values): values.contains(value)
        case .not(let denied): !denied.isMet(by: value, of: type)
        case .before(let end): value.precedes(end, in: type) ?? false
        case .after(let start): start.precedes(value, in: type) ?? false
        }
    }
}
