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

    /// Texts are equal if they have the same characters; Swift's `String` also equates two Unicode forms.
    package static func == (a: Scalar, b: Scalar) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.vast(let one), .vast(let other)): one == other
        case (.text(let one), .text(let other)): ExactText(one) == ExactText(other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        case (.null, _), (.boolean, _), (.integer, _), (.number, _), (.vast, _), (.text, _), (.array, _), (.object, _):
            false
        }
    }

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
