/// The values of other types that a column may contain.
package enum ForeignValues: Sendable, Hashable {
    case none
    /// The integers of a column whose database enforces an integer type, and which the rules declare as boolean.
    case integers(ClosedRange<Int128>)
    /// Texts in a text column that the rules declare as date or time.
    case texts
    /// Any number or text, as in SQLite.
    case any

    /// Converts a client's value that does not have the column's type.
    ///
    /// - Throws: `ValueProblem` if the gateway cannot have sent the value for the column.
    package func accept(_ scalar: Scalar, as type: ColumnType) throws(ValueProblem) -> Value {
        do {
            return try type.accept(scalar)
        } catch {
            switch self {
            case .none: throw error
            case .integers(let range):
                // The gateway sends 0 and 1 as booleans.
                guard let number = scalar.wholeNumber, range.contains(number), !(0...1).contains(number) else {
                    throw error
                }
                return .integer(number)
            case .texts:
                guard case .text = scalar else { throw error }
                return try type.acceptLoosely(scalar)
            case .any: return try type.acceptLoosely(scalar)
            }
        }
    }
}
