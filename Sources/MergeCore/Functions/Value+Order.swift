extension Value {
    /// Returns true where the value comes before another of its column; nil where the two have no order.
    ///
    /// Numbers, dates and times go by value, texts by their code points (no collation: the same order on every
    /// server), ENUM members by their place in the column's list with the error value `""` before them all, `false`
    /// before `true`, and bytes and addresses by their bytes, as unsigned numbers. NULL has no order, nor has a value
    /// that is foreign to its column.
    ///
    /// Law: on the values of one ordered column this is a strict total order, and two values of which neither
    /// precedes the other are equal.
    package func precedes(_ other: Value, in type: ColumnType) -> Bool? {
        guard type.isOrdered, !type.isForeign(self), !type.isForeign(other) else { return nil }
        return switch (self, other) {
        case (.boolean(let a), .boolean(let b)): !a && b
        case (.integer(let a), .integer(let b)): a < b
        case (.decimal(let a), .decimal(let b)): a < b
        case (.float(let a), .float(let b)): a.isNaN || b.isNaN ? nil : a < b
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : a < b
        case (.text(let a), .text(let b)): Self.precedes(a, b, in: type)
        case (.date(let a), .date(let b)): a < b
        case (.dateTime(let a), .dateTime(let b)): a < b
        case (.time(let a), .time(let b)): a < b
        case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
        case (.address(let a), .address(let b)): a.precedes(b)
        default: nil
        }
    }

    private static func precedes(_ a: ExactText, _ b: ExactText, in type: ColumnType) -> Bool? {
        guard case .enumeration(let members) = type else { return a < b }
        guard let x = position(of: a, in: members), let y = position(of: b, in: members) else { return nil }
        return x < y
    }

    private static func position(of text: ExactText, in members: [ExactText]) -> Int? {
        members.firstIndex(of: text) ?? (text.string.isEmpty ? -1 : nil)
    }
}

extension NetworkAddress {
    /// Returns true where the address comes before another in network byte order; nil where one is IPv4 and the other
    /// IPv6.
    package func precedes(_ other: NetworkAddress) -> Bool? {
        bytes.count == other.bytes.count ? bytes.lexicographicallyPrecedes(other.bytes) : nil
    }
}
