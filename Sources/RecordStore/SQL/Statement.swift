package import MergeCore

/// SQL with its values beside it, never inside.
package struct Statement: Sendable, Hashable {
    package let sql: String
    package let binds: [Bind]
    /// The columns that a SELECT returns.
    package let columns: [Column]

    package init(sql: String, binds: [Bind], columns: [Column] = []) {
        self.sql = sql
        self.binds = binds
        self.columns = columns
    }
}
