/// The trace of a row in an entry of the journal, for one that is to come back.
package enum RowTrace: Sendable, Hashable {
    /// The values that some of its fields held from then on.
    case fields([Int: Value])
    /// The whole row as it was when it was deleted, by its columns' names, and its fields.
    case whole([Int: Value], RawRow)
}
