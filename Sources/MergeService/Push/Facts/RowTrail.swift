import MergeCore

/// Events of one deleted row in the journal, from the newest entry back to its deletion.
struct RowTrail {
    /// The last known value of each field, and the number of its entry.
    private(set) var fields: [Int: (value: Value, entry: Int)] = [:]
    /// The row at its last deletion; nil if no deletion was found.
    private(set) var deletion: (row: RawRow, entry: Int)?
    /// The newest entry from which the client may not read the row; nil if there is none.
    var foreign: Int?

    /// True if older entries add nothing.
    var isWhole: Bool { deletion != nil || foreign != nil }

    /// Adds the events of an older entry, which are in the order in which they happened.
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

struct KnownTrails {
    /// The position of the push that may restore the rows.
    let owner: Int
    var rows: [EntryRow: RowTrail] = [:]
}
