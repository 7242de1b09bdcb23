package import MergeCore

/// A foreign key from one table to another.
package struct ForeignKey: Sendable, Hashable {
    package let name: String
    package let columns: [String]
    package let target: TableName
    package let targetColumns: [String]

    package init(name: String, columns: [String], target: TableName, targetColumns: [String]) {
        self.name = name
        self.columns = columns
        self.target = target
        self.targetColumns = targetColumns
    }
}
