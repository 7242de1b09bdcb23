/// Ties a row of a section to its record: this column holds what the root's column holds.
package struct ParentLink: Sendable, Hashable {
    /// Position in this section's `columns`.
    package let column: Int
    /// Position in the root section's `columns`.
    package let rootColumn: Int

    /// Ties a column to one of the root, both by their positions.
    package init(column: Int, rootColumn: Int) {
        self.column = column
        self.rootColumn = rootColumn
    }
}
