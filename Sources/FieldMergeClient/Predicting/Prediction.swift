/// The probable result of a waiting edit, computed from the gateway's last data.
///
/// Show it with an edit, but not as a fact: other clients may write meanwhile, and the gateway evaluates guards, checks and
/// rights that a client cannot read. The outcome of an edit is in its ticket.
public struct Prediction: Sendable, Hashable {
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    /// The name of the section.
    public let section: String
    /// The id of the item; nil outside lists.
    public let item: JSONValue?
    /// The name of the group.
    public let group: String
    /// The gateway's probable outcome, such as `applied`, `combined` or `rejected`.
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
