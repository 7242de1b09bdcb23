import MergeCore

/// A change of a row's keys.
struct RowRenaming {
    let table: TableName
    /// The columns by which the sections of the table find the row.
    let before: [Column: Value]
    let after: [Column: Value]

    /// Returns the old and the new key of the row in a section; nil if the section does not find it by both.
    func keys(in section: Section) -> (before: RecordKey, after: RecordKey)? {
        let columns = section.addressColumns
        let (old, new) = (columns.compactMap { before[$0] }, columns.compactMap { after[$0] })
        guard old.count == columns.count, new.count == columns.count, old != new else { return nil }
        return (RecordKey(old), RecordKey(new))
    }
}
