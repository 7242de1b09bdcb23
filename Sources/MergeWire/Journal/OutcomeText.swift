/// The outcome of one group or row, as text for people: every value is JSON.
package struct OutcomeText: Sendable {
    /// The name of the section.
    package let section: String
    /// The item's key in a list.
    package let item: String?
    /// nil for a whole row.
    package let group: String?
    /// The name of the outcome.
    package let outcome: String
    /// The rule that decided.
    package let rule: String
    /// The client's wish met another change.
    package let isConflict: Bool
    /// Also the digest that the client sent in its place.
    package let old: String?
    /// The values that the database held; nil where they are not kept.
    package let current: String?
    /// The values that the client sent; nil where they are not kept.
    package let new: String?
    /// The values that stood then; nil where they are not kept.
    package let written: String?
    /// All else that is known, by its name.
    package let more: [(name: String, text: String)]
}
