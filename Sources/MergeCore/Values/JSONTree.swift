/// A JSON value, compared by its structure: the order of members does not count, and numbers count by their value.
package indirect enum JSONTree: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without fraction that 64 bits hold, signed or unsigned, however it was written.
    case integer(Int128)
    /// The double nearest to any other number, where that is not such an integer itself.
    case double(Double)
    case text(ExactText)
    case array([JSONTree])
    case object(JSONMembers)

    private static let integers = Int128(Int64.min)...Int128(UInt64.max)

    /// The value of a number as it was written; nil beyond a double.
    package init?(number: ExactDecimal) {
        if let whole = number.integer, Self.integers.contains(whole) {
            self = .integer(whole)
        } else if let double = Double(number.text), double.isFinite {
            self.init(double)
        } else {
            return nil
        }
    }

    /// The value of a double that is finite: what is read again once it was written as text.
    ///
    /// So 1.000000000000000005 is 1, and what is too small for a double is 0.
    private init(_ double: Double) {
        // From 1e21 on the text of a double has an exponent, and 64 bits hold no such number.
        if double.magnitude < 1e21, double == double.rounded(.towardZero),
            let whole = Int128(ShortestNumber.text(double)), Self.integers.contains(whole)
        {
            self = .integer(whole)
        } else {
            self = .double(double)
        }
    }

    /// The value of what a client sent.
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
    /// Returns true where values stand in each other on more levels than these; a scalar alone is one level.
    package func isDeeper(than levels: Int) -> Bool {
        if levels == 0 { return true }
        switch self {
        case .array(let elements): return elements.contains { $0.isDeeper(than: levels - 1) }
        case .object(let members): return members.list.contains { $0.value.isDeeper(than: levels - 1) }
        case .null, .boolean, .integer, .double, .text: return false
        }
    }
}
