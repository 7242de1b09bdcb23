/// Fields that mean something only together: the atom of merging.
package final class Group: Sendable, Hashable {
    /// The name that clients use.
    package let name: String
    /// Earlier names that clients may still use.
    package let formerly: [String]
    /// A nonempty range of positions in the section's `fields`.
    package let fields: Range<Int>
    /// The positions of `fields` as an array.
    package let positions: [Int]
    /// The policy for a conflict that no merge function resolves.
    package let onConflict: Ruled<ConflictPolicy>
    /// The function that resolves a conflict first, if all three values differ.
    package let merge: Ruled<MergeFunction>?
    /// The allowed next values for each value; a value without an entry may become any value.
    package let transitions: Ruled<[Value: Set<Value>]>?

    /// Creates a group of consecutive fields.
    package init(
        name: String, fields: Range<Int>, onConflict: Ruled<ConflictPolicy>, merge: Ruled<MergeFunction>? = nil,
        transitions: Ruled<[Value: Set<Value>]>? = nil, formerly: [String] = []
    ) {
        self.formerly = formerly
        self.transitions = transitions
        self.name = name
        self.fields = fields
        self.onConflict = onConflict
        self.merge = merge
        positions = Array(fields)
    }

    package static func == (a: Group, b: Group) -> Bool {
        a === b
            || (a.name, a.fields, a.onConflict, a.merge, a.transitions, a.formerly)
                == (b.name, b.fields, b.onConflict, b.merge, b.transitions, b.formerly)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// True for a group of one field, which is a bare value on the wire, not an object.
    package var isBare: Bool { fields.count == 1 }
}
