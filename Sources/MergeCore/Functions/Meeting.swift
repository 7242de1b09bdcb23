/// The three states of a group that all differ, as a merge function meets them.
struct Meeting {
    /// nil where the client held none.
    let base: GroupState?
    let edited: [Value]
    let current: [Value]
    /// The types of the group's columns.
    let types: [ColumnType]
    /// Whose part stands where both changed the same.
    let favouring: MergeSide

    var heldBase: [Value]? {
        if case .values(let values)? = base { values } else { nil }
    }

    /// The reason for which no function can work on the group's one value, or on the base beside it.
    ///
    /// - Parameter position: of the field that matters among the group's.
    func obstacle(at position: Int) -> String? {
        let sides = [("base", heldBase), ("edited", edited), ("current", current)]
        for (name, values) in sides {
            guard let value = values?[position] else { continue }
            if value.isNull { return "the \(name) value is NULL" }
            if types[position].isForeign(value) { return "the \(name) value is not of the column's type" }
        }
        return nil
    }
}

/// The result of a merge function.
enum Settlement {
    /// New values for the group, with the parts in which a side had to be chosen.
    case combined([Value], [MergedPart])
    /// One side as a whole.
    case side(MergeSide)
    /// The function cannot run on what it got; the reason completes a sentence.
    case undecided(String)
}
