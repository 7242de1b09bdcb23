import MergeCore

/// What entries of the journal tell of one row that is gone, the newest first, back to its deletion.
struct RowTrail {
    /// The last known value of each field, and the number of its entry.
    private(set) var fields: [Int: (value: Value, entry: Int)] = [:]
    /// The row as it was deleted last; nil where no deletion is known.
    private(set) var deletion: (row: RawRow, entry: Int)?
    /// The entry that may not tell the client of the row; nil where there is none.
    var strange: Int?

    /// No older entry has anything to tell.
    var isWhole: Bool { deletion != nil || strange != nil }

    /// Adds what an older entry tells, in the order in which it happened.
    mutating func add(_ events: [RowTrace], of entry: Int) {
        for event in events.reversed() {
            switch event {
            case .fields(let older):
                add(older, of: entry)
            case .whole(let older, let row):
                add(older, of: entry)
                deletion = (row, entry)
                return
            }
        }
    }

    private mutating func add(_ older: [Int: Value], of entry: Int) {
        for (field, value) in older where fields[field] == nil { fields[field] = (value, entry) }
    }
}

/// The trails of rows of one record, as far as one push may bring them back.
struct KnownTrails {
    /// The push.
    let owner: Int
    var rows: [EntryRow: RowTrail] = [:]
}
