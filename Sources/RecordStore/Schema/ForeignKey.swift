package import MergeCore

/// A foreign key from one table to another.
package struct ForeignKey: Sendable, Hashable {
    /// The name of the constraint.
    package let name: String
    /// The referring columns.
    package let columns: [String]
    /// The table that they refer to.
    package let target: TableName
    /// The columns that they refer to, in the same order.
    package let targetColumns: [String]

    /// Describes a foreign key.
    package init(name: String, columns: [String], target: TableName, targetColumns: [String]) {
        self.name = name
        self.columns = columns
        self.target = target
        self.targetColumns = targetColumns
    }
}
