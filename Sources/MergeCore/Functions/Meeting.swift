/// The three states of a group that all differ, as the input of a merge function.
struct Meeting {
    /// The base, or nil if the client had none.
    let base: GroupState?
    let edited: [Value]
    let current: [Value]
    let types: [ColumnType]
    /// The side that wins a part that both sides changed.
    let favouring: MergeSide

    var heldBase: [Value]? {
        if case .values(let values)? = base { values } else { nil }
    }

    /// Returns the reason why no merge function can run on the values at a position in the group, if any.
    func obstacle(at position: Int) -> String? {
        let sides = [("base", heldBase), ("edited", edited), ("current", current)]
        for (name, values) in sides {
            guard let value = values?[position] else { continue }
            if value.isNull { return "the \(name) value is NULL" }
            if types[position].isForeign(value) { return "the \(name) value does not have the column's type" }
        }
        return nil
    }
}

/// The result of a merge function.
enum Settlement {
    /// New values for the group, and the parts for which a side had to be chosen.
    case combined([Value], [MergedPart])
    /// One side wins as a whole.
    case side(MergeSide)
    /// The function cannot run on these values. The reason completes a sentence.
    case undecided(String)
}
