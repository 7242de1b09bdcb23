/// The table of a section, as far as the section reads it.
package struct SectionTable: Sendable {
    let name: TableName
    let columns: [Column]
    let keyCount: Int
    let generatedKeyColumn: Int?
    let parent: [ParentLink]
    let order: [Int]
    let isTransactional: Bool

    /// Names a table and the columns that are read of it.
    ///
    /// - Parameters:
    ///   - columns: those of the key first.
    ///   - keyCount: the number of columns that are the key.
    ///   - generatedKeyColumn: the position of the key column that the database numbers by itself.
    ///   - parent: the columns that tie a row to its record; none for the root.
    ///   - order: the positions of the columns that order the rows of a list.
    ///   - isTransactional: its engine takes a transaction back by itself.
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
