package import MergeCore

/// A foreign key seen from the table that it refers to: what happens to the other table's rows when one here goes.
package struct Dependent: Sendable, Hashable {
    package let constraint: String
    package let table: TableName
    /// Columns of the other table, parallel to `targetColumns` of this one.
    package let columns: [String]
    package let targetColumns: [String]
    package let effect: Cascade.Effect

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
