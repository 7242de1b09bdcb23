/// A step from a row to the row that one of its columns refers to.
///
/// A NULL reference and a missing row both give NULL.
package struct ReferenceStep: Sendable, Hashable {
    /// The referring column of the section's table.
    package let own: Column
    /// The table of the referred row.
    package let table: TableName
    /// The unique column that `own` refers to.
    package let key: Column
    /// The column of the referred row that is read.
    package let column: Column

    /// Creates a step.
    package init(along own: Column, to table: TableName, key: Column, column: Column) {
        self.own = own
        self.table = table
        self.key = key
        self.column = column
    }
}
