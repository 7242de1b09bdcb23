import MergeCore

/// The values of a row that another program changed, parallel to the columns of its section.
///
/// The log lacks a value if its server writes no full images, or cannot be decoded.
struct RowImages: Sendable {
    /// The position of the transaction in its batch.
    let transaction: Int
    /// The values before; nil after an insertion.
    let before: [Value?]?
    /// The values after; nil after a deletion.
    let after: [Value?]?
    /// The columns that changed, although their values cannot be decoded.
    let undecoded: Set<Int>
    /// The columns of a deleted row that an undo restores.
    let restored: [(column: Column, value: Value?)]

    /// Returns true if the log contains a change of a column.
    func changes(_ column: Int) -> Bool {
        guard let before, let after else { return true }
        return undecoded.contains(column) || before[column] != after[column]
    }

    /// Returns the values of some columns before and after; nil if one is missing.
    func values(of columns: [Int]) -> (before: [Value], after: [Value])? {
        let (old, new) = (columns.compactMap { before?[$0] }, columns.compactMap { after?[$0] })
        return old.count == columns.count && new.count == columns.count ? (old, new) : nil
    }
}
