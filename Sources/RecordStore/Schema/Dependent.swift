package import MergeCore

/// A foreign key seen from the table that it refers to: what happens to the other table's rows when one here goes.
package struct Dependent: Sendable, Hashable {
    /// What the database does by itself.
    package enum Effect: String, Sendable, Hashable {
        case delete
        case setNull = "set-null"
    }

    package let constraint: String
    package let table: TableName
    /// Columns of the other table, parallel to `targetColumns` of this one.
    package let columns: [String]
    package let targetColumns: [String]
    package let effect: Effect

    package init(
        constraint: String, table: TableName, columns: [String], targetColumns: [String], effect: Effect
    ) {
        self.constraint = constraint
        self.table = table
        self.columns = columns
        self.targetColumns = targetColumns
        self.effect = effect
    }
}
