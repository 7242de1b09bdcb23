/// Columns that seem to mean something only together.
struct ProposedGroup {
    /// The words of the group's name.
    let words: [String]
    private(set) var columns: [String]
    /// The reason for which they were put together, for the comment above the group.
    private(set) var reason: String
    /// Columns beside them that may belong to them as well.
    var doubtful: [String] = []

    /// Adds a column that stands apart from the others.
    mutating func take(_ column: String, because reason: String) {
        columns.append(column)
        self.reason = reason
    }
}
