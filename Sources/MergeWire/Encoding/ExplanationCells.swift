/// One row of an explanation as text; empty where the row has no id or no group.
package struct ExplanationCells: Sendable, Hashable {
    package let section: String
    package let id: String
    package let group: String
    package let base: String
    package let current: String
    package let edited: String
    package let result: String
}
