import MergeCore

/// The columns of a row as they should be after a write.
struct ExpectedRow: Sendable {
    let section: Int
    /// The key of an item of a list; nil for the root and singletons.
    let item: RecordKey?
    let assignments: [Assignment]

    func keeping(_ isKept: (_ column: Int) -> Bool) -> ExpectedRow {
        ExpectedRow(section: section, item: item, assignments: assignments.filter { isKept($0.column) })
    }
}
