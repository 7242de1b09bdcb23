/// The table of a section, with the columns that the section uses.
package struct SectionTable: Sendable {
    let name: TableName
    let columns: [Column]
    let keyCount: Int
    let generatedKeyColumn: Int?
    let parent: [ParentLink]
    let order: [Int]
    let isTransactional: Bool

    /// Creates the table of a section.
    ///
    /// - Parameters:
    ///   - columns: The columns, beginning with the key.
    ///   - keyCount: The number of key columns.
    ///   - generatedKeyColumn: The position of the key column that the database numbers.
    ///   - parent: The columns that link a row to its record; empty for the root.
    ///   - order: The positions of the columns that order a list.
    ///   - isTransactional: True if the table's engine has transactions.
    package init(
        _ name: TableName, columns: [Column], keyCount: Int, generatedKeyColumn: Int? = nil,
        parent: [ParentLink] = [], order: [Int] = [], isTransactional: Bool = true
    ) {
        self.name = name
        self.columns = columns
        self.keyCount = keyCount
        self.generatedKeyColumn = generatedKeyColumn
        self.parent = parent
        self.order = order
        self.isTransactional = isTransactional
    }
}
