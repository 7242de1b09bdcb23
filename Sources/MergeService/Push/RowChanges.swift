import MergeCore

/// The writes of a transaction by the time at which they were decided, to tell which rows that were read are out of date.
///
/// Time counts writes. A row that was read at one time may be decided on as long as no later write can have changed it.
struct RowChanges {
    /// The time of the last write.
    private(set) var now = 0
    private var rows: [RowReference: Int] = [:]
    /// Writes that may have changed any row of other tables, by the table written.
    private var others: [String: Int] = [:]
    /// The last write that may have changed any row.
    private var everything = 0

    /// Notes that a row changes, and with it what the write reaches.
    ///
    /// - Returns: the time of the row's last change before; nil where there was none.
    @discardableResult
    mutating func note(_ row: RowReference, _ reach: Footprint.Reach) -> Int? {
        note(inTable: row.table, reach)
        return rows.updateValue(now, forKey: row)
    }

    /// Notes what the change of a row reaches that nobody asks for again.
    mutating func note(inTable table: String, _ reach: Footprint.Reach) {
        now += 1
        switch reach {
        case .row: break
        case .otherTables: others[table] = now
        case .everything: everything = now
        }
    }

    /// Notes that any row may have changed.
    mutating func noteEverything() {
        now += 1
        everything = now
    }

    /// Returns true where a row that was read at a time may look otherwise by now.
    ///
    /// - Parameters:
    ///   - row: nil for one that no write names which was noted.
    ///   - table: the row's, as `Footprint` names it.
    func mayHaveChanged(_ row: RowReference?, in table: String, since time: Int) -> Bool {
        guard now > time else { return false }
        if everything > time { return true }
        if let row, let last = rows[row], last > time { return true }
        return others.contains { other, last in last > time && other != table }
    }
}
