/// The key of a row: its values in key order, as the database stores them.
package struct RecordKey: Sendable, Hashable {
    /// The values of the key columns, in key order.
    package let parts: [Value]

    /// Creates a key.
    package init(_ parts: [Value]) {
        self.parts = parts
    }

    /// The only part, if it is an integer, as in most keys.
    private var number: Int128? {
        if parts.count == 1, case .integer(let number) = parts[0] { number } else { nil }
    }

    package static func == (a: RecordKey, b: RecordKey) -> Bool {
        if let a = a.number, let b = b.number { return a == b }
        return a.parts == b.parts
    }

    package func hash(into hasher: inout Hasher) {
        if let number { hasher.combine(UInt64(truncatingIfNeeded: number)) } else { hasher.combine(parts) }
    }

    /// Returns the distinct keys in the fixed order in which every push locks them.
    package static func ordered(_ keys: [RecordKey]) -> [RecordKey] {
        let numbers = keys.compactMap(\.number)
        let sorted =
            numbers.count == keys.count
            ? keys.indices.sorted { numbers[$0] < numbers[$1] }.map { keys[$0] }
            : keys.sorted { $0.precedes($1) }
        var unique: [RecordKey] = []
        unique.reserveCapacity(keys.count)
        for key in sorted where unique.last != key { unique.append(key) }
        return unique
    }

    /// Returns true if this key is locked before the other key.
    package func precedes(_ other: RecordKey) -> Bool {
        for (a, b) in zip(parts, other.parts) where a != b {
            switch (a, b) {
            case (.integer(let x), .integer(let y)): return x < y
            case (.text(let x), .text(let y)): return x < y
            case (.date(let x), .date(let y)): return x < y
            case (.dateTime(let x), .dateTime(let y)): return x < y
            case (.bytes(let x), .bytes(let y)): return x.lexicographicallyPrecedes(y)
            default: return String(describing: a) < String(describing: b)
            }
        }
        return false
    }
}
