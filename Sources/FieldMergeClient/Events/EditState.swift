/// The state of a group, or of a larger part of a record.
public enum EditState: String, Sendable, Hashable {
    /// As the server last told it.
    case clean
    /// Edited, and not on its way yet.
    case draft
    /// On its way, without an answer so far.
    case sending
    /// Refused for good.
    case refused
}
