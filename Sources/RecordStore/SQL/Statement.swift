package import MergeCore

/// SQL with its values beside it, never inside.
package struct Statement: Sendable, Hashable {
    /// The text, with a `?` for each value.
    package let sql: String
    /// The values in the order of their marks.
    package let binds: [Bind]
    /// The columns that a SELECT returns.
    package let columns: [Column]

    /// Pairs a text with its values.
    package init(sql: String, binds: [Bind], columns: [Column] = []) {
        self.sql = sql
        self.binds = binds
        self.columns = columns
    }
}
