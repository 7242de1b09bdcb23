/// The table of a section, with the columns that the section uses.
package struct SectionTable: Sendable {
    let name: TableName
    let columns: [Column]
    let keyCount: Int
    let generatedKeyColumn: Int?
    let gatewayNumbersKey: Bool
    let parent: [ParentLink]
    let order: [Int]
    let isTransactional: Bool

    /// Creates the table of a section, with columns that begin with the key.
    ///
    /// The parameters are those of `Section`.
    package init(
        _ name: TableName, columns: [Column], keyCount: Int, generatedKeyColumn: Int? = nil,
        gatewayNumbersKey: Bool = false, parent: [ParentLink] = [], order: [Int] = [], isTransactional: Bool = true
    ) {
        self.name = name
        self.columns = columns
        self.keyCount = keyCount
        self.generatedKeyColumn = generatedKeyColumn
        self.gatewayNumbersKey = gatewayNumbersKey
        self.parent = parent
        self.order = order
        self.isTransactional = isTransactional
    }
}
