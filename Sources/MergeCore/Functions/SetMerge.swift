/// Merges collections whose members are there or not: SET columns, delimited texts, JSON arrays of scalars.
///
/// Laws, with all three free of repetitions:
/// - what either side added is in the result, and what either side removed is not, unless the other side added it;
/// - `merge(b, e, b)` has the members of `e`, `merge(b, b, c)` is `c`, and `merge(b, x, x)` is `x`;
/// - with edited and current swapped the result has the same members.
package enum SetMerge {
    /// Current, less what the client removed, plus what it added.
    ///
    /// The members of current keep their order, and the client's additions follow in the client's. No member stands
    /// twice, even where it did so in current. A column with an order of its own (`ColumnType.arranged`) has still to
    /// be given it.
    /// - Parameter base: what the client last read; nil where it held nothing, and then the two sides are united.
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
