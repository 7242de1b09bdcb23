/// The numbers of places from which values are erased.
package struct ErasureReport: Sendable, Hashable {
    /// Entries with values of the person.
    package var entries = 0
    /// Stored answers.
    package var answers = 0
    /// Refused pushes.
    package var refused = 0
    /// Rows of the feed that name the sender.
    package var changes = 0
    /// Records whose former values of conditions are omitted.
    package var histories = 0
    /// Records whose current values of conditions name the sender, which the database still contains.
    package var current = 0
}
