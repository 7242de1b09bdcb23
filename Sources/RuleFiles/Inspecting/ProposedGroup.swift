/// Columns that seem to mean something only together.
struct ProposedGroup {
    /// The words of the group's name.
    let words: [String]
    let columns: [String]
    /// The reason for which they were put together, for the comment above the group.
    let reason: String
    /// Columns beside them that may belong to them as well.
    var doubtful: [String] = []
}
