/// The state of a group, or of a larger part of a record.
public enum EditState: String, Sendable, Hashable {
    /// The base, without edits.
    case clean
    /// Edited, and not on its way yet.
    case draft
    /// On its way, without an answer so far.
    case sending
    /// Refused for good.
    case refused
}
