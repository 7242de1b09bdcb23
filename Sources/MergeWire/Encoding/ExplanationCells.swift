/// One row of an explanation as text; empty cells if there is no id or no group.
package struct ExplanationCells: Sendable, Hashable {
    /// The name of the section.
    package let section: String
    /// The item's key as JSON.
    package let id: String
    /// The name of the group.
    package let group: String
    /// The base as JSON.
    package let base: String
    /// The current values as JSON.
    package let current: String
    /// The edited values as JSON.
    package let edited: String
    /// The result as JSON.
    package let result: String
}
