/// An id that a client made up for a row that it creates: `tmp:…` or a negative integer, spelled as in the reply.
///
/// Two are the same only with the same bytes.
package struct TemporaryID: Sendable, Hashable, CustomStringConvertible {
    /// The most bytes that one may have.
    package static let maximumBytes = 1_024

    private let name: ExactText

    package var text: String { name.string }

    package init(_ text: String) {
        name = ExactText(text)
    }

    /// Reads a text that begins with `tmp:`; nil for any other.
    package init?(marked text: String) {
        guard text.utf8.starts(with: "tmp:".utf8) else { return nil }
        self.init(text)
    }

    /// Reads an id of a column that the database numbers, in any spelling of a negative integer; nil for any other.
    package init?(number scalar: Scalar) {
        guard let number = scalar.wholeNumber, number < 0 else { return nil }
        self.init(String(number))
    }

    /// Begins with `tmp:`, so that it can be nothing but a temporary id.
    package var isMarked: Bool { text.utf8.first != UInt8(ascii: "-") }

    package var description: String { text }
}

/// One part of a key that is not settled yet.
package enum KeyPart: Sendable, Hashable {
    case value(Value)
    /// The key of a row that this push creates.
    case temporary(TemporaryID)
    /// The database numbers it (AUTO_INCREMENT).
    case generated
}

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

    package init(parts: [KeyPart], temporary: TemporaryID? = nil, isSuspect: Bool = false) {
        self.temporary = temporary
        self.isSuspect = isSuspect
        key = Self.key(parts)
        open = key == nil ? parts : []
    }

    package init(_ key: RecordKey) {
        self.key = key
        open = []
        temporary = nil
        isSuspect = false
    }

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

    package var isGenerated: Bool { open.contains(.generated) }
}
