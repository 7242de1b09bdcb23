/// A merge function as the rules name it.
enum RuleMerge: Sendable, Hashable {
    case plain(PlainMerge)
    /// The member that tells the items of JSON arrays apart.
    case json(itemKey: String)
    /// A field of the group.
    case latest(field: Placed<String>)
}
