package import MergeCore

/// A foreign key seen from the table that it refers to: what happens to the other table's rows if one here is deleted or
/// its columns change.
package struct Dependent: Sendable, Hashable {
    /// The name of the foreign key.
    package let constraint: String
    /// The other table.
    package let table: TableName
    /// The table that the foreign key refers to.
    package let target: TableName
    /// Columns of the other table, parallel to `targetColumns` of this one.
    package let columns: [String]
    /// The columns that the foreign key refers to.
    package let targetColumns: [String]
    /// The change to the other table's rows if a row here is deleted; nil if there is none.
    package let onDelete: Cascade.Effect?
    /// The change to the other table's rows if the columns here change; nil if there is none.
    package let onUpdate: Cascade.Effect?

    /// Makes the other end of a foreign key.
    package init(
        constraint: String, table: TableName, columns: [String], target: TableName, targetColumns: [String],
        onDelete: Cascade.Effect? = nil, onUpdate: Cascade.Effect? = nil
    ) {
        self.constraint = constraint
        self.table = table
        self.target = target
        self.columns = columns
        self.targetColumns = targetColumns
        self.onDelete = onDelete
        self.onUpdate = onUpdate
    }
}
