/// Merges sets: SET columns, delimited texts and JSON arrays of scalars.
///
/// Laws, if no argument contains repetitions:
/// - each member that a side added is in the result;
/// - a member that a side removed is not, unless the other side added it;
/// - `merge(b, e, b)` has the members of `e`, `merge(b, b, c)` is `c`, and `merge(b, x, x)` is `x`;
/// - if edited and current are swapped, the result has the same members.
package enum SetMerge {
    /// Returns current, minus what the client removed, plus what it added.
    ///
    /// The members of current keep their order, and the client's additions follow in the client's order. The result has
    /// no repetitions. For a column with its own order, the caller applies `ColumnType.arranged`.
    ///
    /// - Parameter base: The set that the client last read. If it is nil, the result is the union.
    package static func merge<Element: Hashable>(
        base: [Element]?, edited: [Element], current: [Element]
    ) -> [Element] {
        let known = Set(base ?? [])
        let removed = known.subtracting(edited)
        var held: Set<Element> = []
        var merged: [Element] = []
        for member in current where !removed.contains(member) && held.insert(member).inserted { merged.append(member) }
        for member in edited where !known.contains(member) && held.insert(member).inserted { merged.append(member) }
        return merged
    }
}
