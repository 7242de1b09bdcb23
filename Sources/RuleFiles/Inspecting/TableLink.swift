import MergeCore
import RecordStore

/// Makes the rows of one table a part of another table's records.
struct TableLink {
    let child: TableName
    let parent: TableName
    /// Columns of the child, each with the column of the parent that it follows.
    let columns: [(own: String, root: String)]
    /// True if a record has at most one row.
    let isSingleton: Bool
    /// True if only names suggest the link, not a foreign key.
    let isGuess: Bool
}
