/// Columns that seem to mean something only together.
struct ProposedGroup {
    let words: [String]
    private(set) var columns: [String]
    /// The reason for the group, for the comment above it.
    private(set) var reason: String
    /// Adjacent columns that may belong to the group.
    var doubtful: [String] = []

    /// Adds a column that is not adjacent.
    mutating func take(_ column: String, because reason: String) {
        columns.append(column)
        self.reason = reason
    }
}
