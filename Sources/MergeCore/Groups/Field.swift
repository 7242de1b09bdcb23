/// A client-facing name for one column.
package final class Field: Sendable, Hashable {
    /// The name that clients use.
    package let name: String
    /// Earlier names that clients may still use.
    package let formerly: [String]
    /// The name in JSON, with the colon.
    package let quotedName: [UInt8]
    /// The position of the column in the section's `columns`.
    package let column: Int
    /// The section that the field refers to, if any.
    ///
    /// Temporary ids in such a field are replaced.
    package let reference: SectionReference?
    /// True if the journal stores keyed digests instead of the field's values.
    package let isPrivate: Bool

    /// Creates a field.
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
