/// What an entry of the journal tells of a row, for one that is to come back.
package enum RowTrace: Sendable, Hashable {
    /// What some of its fields held from then on.
    case fields([Int: Value])
    /// The whole row as it was when it was deleted, by its columns' names, and its fields.
    case whole([Int: Value], RawRow)
}
