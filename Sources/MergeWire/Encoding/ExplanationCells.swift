/// One row of an explanation as text; empty where the row has no id or no group.
package struct ExplanationCells: Sendable, Hashable {
    /// The name of the section.
    package let section: String
    /// The item's key as JSON.
    package let id: String
    /// The name of the group.
    package let group: String
    /// The values that the client last read, as JSON.
    package let base: String
    /// The values that the database holds, as JSON.
    package let current: String
    /// The values that the client wants, as JSON.
    package let edited: String
    /// The values that would stand then, as JSON.
    package let result: String
}
