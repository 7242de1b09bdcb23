/// The rules of a section, without those of its groups.
package struct SectionRules: Sendable {
    /// The policy for an edit of a row that is gone.
    package var onMissing = Ruled(MissingPolicy.drop)
    /// The policy for the deletion of a row that has changed since.
    package var onDeleteConflict = Ruled(DeleteConflictPolicy.delete)
    /// The positions of the columns by which a created row matches an existing row.
    package var identity: Ruled<[Int]>?
    /// The operator's SQL for the rows that clients can see, or nil for all rows.
    package var visibility: Ruled<String>?
    /// The assignments that replace a deletion, or nil for a real deletion.
    package var softDelete: Ruled<[SQLAssignment]>?
    /// The conditions on rows after a merge.
    package var checks: [RowCheck] = []
    /// The operator's SQL for frozen rows, or nil if no row is frozen.
    package var frozenWhen: Ruled<String>?
    /// The columns that every insertion and update sets.
    package var stamps: [Stamp] = []
    /// True if clients may choose keys that the database numbers.
    package var allowsClientKeys = false

    /// The names of the columns that a deletion keeps, so that the row can be restored.
    package var keptColumns: [String] = []

    /// Creates the default rules.
    package init() {}
}
