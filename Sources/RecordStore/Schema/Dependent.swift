package import MergeCore

/// A foreign key seen from the table that it refers to: what happens to the other table's rows when one here goes.
package struct Dependent: Sendable, Hashable {
    /// The name of the foreign key.
    package let constraint: String
    /// The other table.
    package let table: TableName
    /// Columns of the other table, parallel to `targetColumns` of this one.
    package let columns: [String]
    /// The columns that the foreign key refers to.
    package let targetColumns: [String]
    /// The change to the other table's rows.
    package let effect: Cascade.Effect

    /// Makes the other end of a foreign key.
    package init(
        constraint: String, table: TableName, columns: [String], targetColumns: [String], effect: Cascade.Effect
    ) {
        self.constraint = constraint
        self.table = table
        self.columns = columns
        self.targetColumns = targetColumns
        self.effect = effect
    }
}
