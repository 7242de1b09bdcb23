extension Value {
    /// Returns true if the value precedes another value of its column, or nil if the two have no order.
    ///
    /// - Numbers, dates and times are compared by value.
    /// - Texts are compared by code points, so that every server has the same order.
    /// - ENUM members are compared by their position in the column's list. The error value `""` comes first.
    /// - `false` precedes `true`.
    /// - Bytes and addresses are compared as unsigned bytes.
    /// - NULL, and a value that is foreign to its column, have no order.
    ///
    /// Law: this is a strict total order of the values of one ordered column. If neither of two values precedes the
    /// other, they are equal.
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
    /// Returns true if the address precedes another in network byte order, or nil if only one of them is IPv6.
    package func precedes(_ other: NetworkAddress) -> Bool? {
        bytes.count == other.bytes.count ? bytes.lexicographicallyPrecedes(other.bytes) : nil
    }
}
