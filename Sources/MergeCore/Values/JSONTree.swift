/// A JSON value, compared by structure: member order does not count, and numbers are compared by value.
package indirect enum JSONTree: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without fraction that fits 64 bits, signed or unsigned, in any spelling.
    case integer(Int128)
    /// The nearest double of any other number, unless this double is such an integer.
    case double(Double)
    case text(ExactText)
    case array([JSONTree])
    case object(JSONMembers)

    private static let integers = Int128(Int64.min)...Int128(UInt64.max)

    /// Converts a number, or returns nil beyond a double.
    package init?(number: ExactDecimal) {
        if let whole = number.integer, Self.integers.contains(whole) {
            self = .integer(whole)
        } else if let double = Double(number.text), double.isFinite {
            self.init(double)
        } else {
            return nil
        }
    }

    /// Converts a finite double to the value that its text would have.
    ///
    /// So 1.000000000000000005 is 1, and a number too small for a double is 0.
    private init(_ double: Double) {
        // From 1e21 on, the text of a double has an exponent, and the number does not fit 64 bits.
        if double.magnitude < 1e21, double == double.rounded(.towardZero),
            let whole = Int128(ShortestNumber.text(double)), Self.integers.contains(whole)
        {
            self = .integer(whole)
        } else {
            self = .double(double)
        }
    }

    /// Converts a client's value.
    ///
    /// - Throws: `ValueProblem` for a number beyond a double.
    init(_ scalar: Scalar) throws(ValueProblem) {
        switch scalar {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(Int128(number))
        case .number(let number):
            guard let tree = JSONTree(number: number) else { throw ValueProblem("has a number beyond a double") }
            self = tree
        case .vast(let number):
            guard let double = number.double else { throw ValueProblem("has a number beyond a double") }
            self.init(double)
        case .text(let text): self = .text(ExactText(text))
        case .array(let elements):
            var out: [JSONTree] = []
            for element in elements { out.append(try JSONTree(element)) }
            self = .array(out)
        case .object(let members):
            var out: [JSONMember] = []
            for member in members {
                out.append(JSONMember(name: ExactText(member.name), value: try JSONTree(member.value)))
            }
            self = .object(JSONMembers(out))
        }
    }
}

extension JSONTree {
    /// Returns true if the value has more levels; a scalar is one level.
    package func isDeeper(than levels: Int) -> Bool {
        if levels == 0 { return true }
        switch self {
        case .array(let elements): return elements.contains { $0.isDeeper(than: levels - 1) }
        case .object(let members): return members.list.contains { $0.value.isDeeper(than: levels - 1) }
        case .null, .boolean, .integer, .double, .text: return false
        }
    }
}
