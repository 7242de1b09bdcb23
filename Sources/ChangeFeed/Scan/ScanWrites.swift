import RecordStore

/// The writes of a scan in one transaction.
struct ScanWrites: Sendable {
    var ranges: [(range: MarkRange, marks: [Mark])] = []
    var forgotten: [Int] = []
    var changes: [ForeignChange] = []
    /// The end of a pass: compared delivery records, and the revision at its start.
    var end: (notes: [Int], revision: Int)?

    /// Returns the statements for the row digests of a section.
    func statements(_ tables: FeedTables, unit: Int) -> [Statement] {
        var statements: [Statement] = []
        for (range, marks) in ranges { statements += tables.keep(range, marks, in: unit) }
        for range in forgotten { statements.append(tables.forgetRange(range, in: unit)) }
        if let end {
            statements += tables.forgetNotes(end.notes)
            statements.append(tables.endPass(over: unit, from: end.revision))
        }
        return statements
    }
}
