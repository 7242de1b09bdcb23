/// Columns that seem to mean something only together.
struct ProposedGroup {
    /// The words of the group's name.
    let words: [String]
    let columns: [String]
    /// Why they were put together, for the comment above the group.
    let reason: String
}
