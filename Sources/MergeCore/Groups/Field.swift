/// A client-facing name for one column.
package final class Field: Sendable, Hashable {
    /// The name that clients use.
    package let name: String
    /// Earlier names, under which clients may still know it.
    package let formerly: [String]
    /// The name as JSON writes it, with the colon behind.
    package let quotedName: [UInt8]
    /// The position of its column in the section's `columns`.
    package let column: Int
    /// The section whose key this field holds, where it is a reference: temporary ids in it are replaced.
    package let reference: SectionReference?
    /// The journal keeps a keyed digest of its values, never the values.
    package let isPrivate: Bool

    /// Names a column for clients.
    package init(
        name: String, column: Int, reference: SectionReference? = nil, isPrivate: Bool = false,
        formerly: [String] = []
    ) {
        self.name = name
        self.formerly = formerly
        self.column = column
        self.reference = reference
        self.isPrivate = isPrivate
        var quoted: [UInt8] = []
        JSONQuoting.append(name, to: &quoted)
        quotedName = quoted + [UInt8(ascii: ":")]
    }

    package static func == (a: Field, b: Field) -> Bool {
        a === b
            || (a.name, a.column, a.reference, a.isPrivate, a.formerly)
                == (b.name, b.column, b.reference, b.isPrivate, b.formerly)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
