/// Links a row to its record: this column contains the value of the root's column.
package struct ParentLink: Sendable, Hashable {
    /// The position in this section's `columns`.
    package let column: Int
    /// The position in the root section's `columns`.
    package let rootColumn: Int

    /// Links a column to a column of the root.
    package init(column: Int, rootColumn: Int) {
        self.column = column
        self.rootColumn = rootColumn
    }
}
