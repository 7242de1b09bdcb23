package import MergeCore

/// A foreign key from the side of its target: the effect on referring rows if a target row is deleted or changed.
package struct Dependent: Sendable, Hashable {
    /// The name of the foreign key.
    package let constraint: String
    /// The referring table.
    package let table: TableName
    /// The table that the foreign key refers to.
    package let target: TableName
    /// Columns of the referring table, parallel to `targetColumns`.
    package let columns: [String]
    /// The columns that the foreign key refers to.
    package let targetColumns: [String]
    /// The change to referring rows if a target row is deleted; nil if there is none.
    package let onDelete: Cascade.Effect?
    /// The change to referring rows if the target columns change; nil if there is none.
    package let onUpdate: Cascade.Effect?

    /// Describes a foreign key.
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
