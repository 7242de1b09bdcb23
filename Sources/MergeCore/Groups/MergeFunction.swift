/// A function that resolves a conflict of a group from its values (Protocol.md, section 4).
package enum MergeFunction: Sendable, Hashable {
    /// Numbers: current + (edited − base).
    case add
    /// The greater of edited and current.
    case max
    /// The lesser of edited and current.
    case min
    /// Sets, delimited texts and JSON arrays of scalars: unites additions and applies removals.
    case set
    /// Three-way merge by line, then by word.
    case text
    /// Three-way merge by member, and by item in arrays of objects with a unique `itemKey`.
    case json(itemKey: ExactText?)
    /// The side with the later timestamp wins.
    ///
    /// - Parameter field: The position of the timestamp among the group's fields.
    case latest(field: Int)

    /// The word in the rules.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case add
        case max
        case min
        case set
        case text
        case json
        case latest
    }

    /// The word in the rules.
    package var name: String { word.rawValue }

    private var word: Name {
        switch self {
        case .add: .add
        case .max: .max
        case .min: .min
        case .set: .set
        case .text: .text
        case .json: .json
        case .latest: .latest
        }
    }
}
