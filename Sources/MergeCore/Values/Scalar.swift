/// A value from a client, before the conversion to its column's type.
package enum Scalar: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// Any other number, exactly as sent.
    case number(ExactDecimal)
    /// A number that only JSON can contain, and only as a double.
    case vast(VastNumber)
    case text(String)
    case array([Scalar])
    case object([ScalarMember])

    /// The JSON name of the kind, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .number, .vast: "a number"
        case .text: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
