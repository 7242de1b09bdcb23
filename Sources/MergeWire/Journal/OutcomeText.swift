/// The outcome of one group or row, as text for people: every value is JSON.
package struct OutcomeText: Sendable {
    package let section: String
    /// The item's key in a list.
    package let item: String?
    /// nil for a whole row.
    package let group: String?
    package let outcome: String
    package let rule: String
    package let isConflict: Bool
    /// Also the digest that the client sent in its place.
    package let old: String?
    package let current: String?
    package let new: String?
    package let written: String?
    /// All else that is known, by its name.
    package let more: [(name: String, text: String)]
}
