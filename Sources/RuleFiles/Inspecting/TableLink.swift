import MergeCore
import RecordStore

/// Makes the rows of one table a part of the records of another.
struct TableLink {
    let child: TableName
    let parent: TableName
    /// A column of the child, and the column of the parent that it follows.
    let columns: [(own: String, root: String)]
    /// At most one row per record.
    let isSingleton: Bool
    /// Told by names alone: the database has no foreign key there.
    let isGuess: Bool
}
