/// The name that an edit gives its row.
package struct RowID: Sendable, Hashable {
    /// Its parts, where they are not all settled.
    private let open: [KeyPart]
    /// The name under which other edits refer to the row, and the reply maps it.
    package let temporary: TemporaryID?
    /// A negative integer in an AUTO_INCREMENT key that this push does not create: a real key, should the row exist.
    package let isSuspect: Bool
    /// The key, where every part is settled.
    package let key: RecordKey?

    /// Names a row by the parts of its key, settled or not.
    package init(parts: [KeyPart], temporary: TemporaryID? = nil, isSuspect: Bool = false) {
        self.temporary = temporary
        self.isSuspect = isSuspect
        key = Self.key(parts)
        open = key == nil ? parts : []
    }

    /// Names a row by its key.
    package init(_ key: RecordKey) {
        self.key = key
        open = []
        temporary = nil
        isSuspect = false
    }

    /// The parts in the order of the key.
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

    /// The database numbers the row when it is created.
    package var isGenerated: Bool { open.contains(.generated) }
}
