package import MergeCore

/// A value and the column that it is compared with or written to.
package struct Bind: Sendable, Hashable {
    package let value: Value
    package let type: ColumnType

    package init(_ value: Value, _ type: ColumnType) {
        self.value = value
        self.type = type
    }
}

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
