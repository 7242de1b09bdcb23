/// The outcome of one group or row as text, with each value as JSON.
package struct OutcomeText: Sendable {
    /// The name of the section.
    package let section: String
    /// The item's key in a list.
    package let item: String?
    /// The name of the group, or nil for a whole row.
    package let group: String?
    /// The name of the outcome.
    package let outcome: String
    /// The rule that decided.
    package let rule: String
    /// True if the edit met another change.
    package let isConflict: Bool
    /// The base or its digest, if stored.
    package let old: String?
    /// The values in the database before, if stored.
    package let current: String?
    /// The values that the client sent, if stored.
    package let new: String?
    /// The values in the database afterwards, if stored.
    package let written: String?
    /// All other members by name.
    package let more: [(name: String, text: String)]
}
