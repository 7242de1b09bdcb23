/// A function that settles a conflict inside a group by looking into its values (Protocol.md, section 4).
package enum MergeFunction: Sendable, Hashable {
    /// Numbers: current + (edited − base).
    case add
    /// The greater of edited and current.
    case max
    /// The lesser of edited and current.
    case min
    /// Sets, delimited texts and JSON arrays of scalars: what was added joins, what was removed goes.
    case set
    /// Three-way merge by line, then by word.
    case text
    /// Three-way merge member by member; arrays of objects item by item where a member is named that tells them apart.
    case json(itemKey: ExactText?)
    /// The side whose timestamp is later wins.
    ///
    /// - Parameter field: the timestamp's position among the group's fields.
    case latest(field: Int)

    /// The word in the rules.
    package var name: String {
        switch self {
        case .add: "add"
        case .max: "max"
        case .min: "min"
        case .set: "set"
        case .text: "text"
        case .json: "json"
        case .latest: "latest"
        }
    }
}
