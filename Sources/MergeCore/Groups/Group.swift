/// Fields that mean something only together: the atom of merging.
package final class Group: Sendable, Hashable {
    /// The name that clients use.
    package let name: String
    /// Earlier names, under which clients may still know it.
    package let formerly: [String]
    /// Positions in the section's `fields`; at least one, and side by side.
    package let fields: Range<Int>
    /// The same one by one.
    package let positions: [Int]
    /// The policy for a conflict that no merge function settles.
    package let onConflict: Ruled<ConflictPolicy>
    /// The function that looks into the values first, where all three differ.
    package let merge: Ruled<MergeFunction>?
    /// The values that may follow others; one that it does not name may become any.
    package let transitions: Ruled<[Value: Set<Value>]>?

    /// Makes a group of fields that stand side by side.
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

    /// On the wire a group of one field carries a bare value, a group of several an object.
    package var isBare: Bool { fields.count == 1 }
}
