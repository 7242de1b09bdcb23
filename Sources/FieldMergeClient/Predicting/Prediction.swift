/// The result that the gateway would probably give to an edit that waits, computed here from what it last told.
///
/// It is shown beside an edit and never taken for the truth: others may write meanwhile, and the gateway knows guards,
/// checks and rights that are not told. What became of an edit, its ticket tells.
public struct Prediction: Sendable, Hashable {
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    /// The name of the section.
    public let section: String
    /// The id of the item; nil if it is no item of a list.
    public let item: JSONValue?
    /// The name of the group.
    public let group: String
    /// The gateway's word for what it would do, such as `applied`, `combined` or `rejected`.
    public let outcome: String
    /// The edit would meet an edit of another client, or a guard.
    public let isConflict: Bool
    /// The value in the database, by the base.
    public let current: JSONValue
    /// The value that the gateway would write.
    public let written: JSONValue
    /// The gateway may decide otherwise by a rule that it does not send, such as `frozen-when`.
    public let hasUnknownGuard: Bool
}

extension Prediction: CustomStringConvertible {
    /// The prediction as a line for a person.
    public var description: String {
        let place = item.map { "\(section) \($0)" } ?? section
        return "\(resource) \(id), \(place), \(group): \(outcome), then \(written)"
            + (hasUnknownGuard ? ", unless the row is frozen" : "")
    }
}
