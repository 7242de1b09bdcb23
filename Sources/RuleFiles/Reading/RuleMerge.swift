/// A merge function as written.
enum RuleMerge: Sendable, Hashable {
    case plain(PlainMerge)
    /// The member that identifies the items of JSON arrays.
    case json(itemKey: String)
    /// A field of the group.
    case latest(field: Placed<String>)
}
