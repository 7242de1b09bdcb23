/// The id of a row in an edit.
package struct RowID: Sendable, Hashable {
    /// The parts, unless all of them are known.
    private let open: [KeyPart]
    /// The id by which other edits refer to the row, and which the reply maps.
    package let temporary: TemporaryID?
    /// True for a negative integer in an AUTO_INCREMENT key that this push does not create.
    ///
    /// It is a real key if the row exists.
    package let isSuspect: Bool
    /// The key, if every part is known.
    package let key: RecordKey?

    /// Creates an id from the parts of a key.
    package init(parts: [KeyPart], temporary: TemporaryID? = nil, isSuspect: Bool = false) {
        self.temporary = temporary
        self.isSuspect = isSuspect
        key = Self.key(parts)
        open = key == nil ? parts : []
    }

    /// Creates an id from a key.
    package init(_ key: RecordKey) {
        self.key = key
        open = []
        temporary = nil
        isSuspect = false
    }

    /// The parts in key order.
    package var parts: [KeyPart] { key.map { $0.parts.map { .value($0) } } ?? open }

    private static func key(_ parts: [KeyPart]) -> RecordKey? {
        var values: [Value] = []
        values.reserveCapacity(parts.count)
        for part in parts {
            guard case .value(let value) = part else { return nil }
            values.append(value)
        }
        return RecordKey(values)
    }

    /// True if the database numbers the new row.
    package var isGenerated: Bool { open.contains(.generated) }
}
