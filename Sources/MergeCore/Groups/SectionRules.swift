/// The rules of a section beside those of its groups; what is left out is as without rules.
package struct SectionRules: Sendable {
    /// The policy for an edit to a row that is gone.
    package var onMissing = Ruled(MissingPolicy.drop)
    /// The policy for the deletion of a row that others changed.
    package var onDeleteConflict = Ruled(DeleteConflictPolicy.delete)
    /// The positions of the columns by which a created row is recognised as one that is there already.
    package var identity: Ruled<[Int]>?
    /// The operator's SQL that tells the rows which exist for clients; nil where all do.
    package var visibility: Ruled<String>?
    /// The assignments that deleting a row writes instead; nil where it deletes.
    package var softDelete: Ruled<[SQLAssignment]>?
    /// The conditions that rows have to meet after a merge.
    package var checks: [RowCheck] = []
    /// The operator's SQL that tells the rows which are written no more; nil where none is.
    package var frozenWhen: Ruled<String>?
    /// Clients may choose keys that the database numbers.
    package var allowsClientKeys = false

    /// The names of the columns that a deletion keeps of a row, so that it can come back.
    package var keptColumns: [String] = []

    /// Makes the rules of a section that the rule files say nothing about.
    package init() {}
}
