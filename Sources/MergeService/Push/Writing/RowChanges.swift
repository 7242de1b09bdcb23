import MergeCore

/// The writes of a transaction with their logical times.
///
/// The time counts writes. A row may be used as long as no later write can have changed it.
struct RowChanges {
    private(set) var now = 0
    private var rows: [RowName: Int] = [:]
    /// The last write of each table.
    private var tables: [TableName: Int] = [:]
    /// The last write of each table that may have changed any row of other tables.
    private var others: [TableName: Int] = [:]
    /// The last write of each table after which another search may find other rows.
    private var moves: [TableName: Int] = [:]
    /// The last write that may have changed any row.
    private var everything = 0

    /// Records a change of a row and its reach.
    ///
    /// - Parameter moves: true if a search by other columns than the key may find other rows afterwards.
    /// - Returns: the time of the row's previous change; nil if there was none.
    @discardableResult
    mutating func note(_ row: RowName, _ reach: Footprint.Reach, moves: Bool) -> Int? {
        note(inTable: row.table, reach)
        if moves { self.moves[row.table] = now }
        return rows.updateValue(now, forKey: row)
    }

    /// Records the reach of a change to a row that is not read again.
    mutating func note(inTable table: TableName, _ reach: Footprint.Reach) {
        now += 1
        tables[table] = now
        switch reach {
        case .row: break
        case .otherTables: others[table] = now
        case .everything: everything = now
        }
    }

    mutating func recordEverything() {
        now += 1
        everything = now
    }

    /// Returns true if a search by other columns than the key may find other rows than before.
    func mayHaveMoved(in table: TableName, since time: Int) -> Bool { moves[table].map { $0 > time } ?? false }

    func hasWritten(_ table: TableName, since time: Int) -> Bool { tables[table].map { $0 > time } ?? false }

    /// Returns true if a row may have changed since it was read.
    ///
    /// - Parameters:
    ///   - row: nil for a row that no recorded write names.
    ///   - table: the row's table, as in `Footprint`.
    func mayHaveChanged(_ row: RowName?, in table: TableName, since time: Int) -> Bool {
        guard now > time else { return false }
        if everything > time { return true }
        if let row, let last = rows[row], last > time { return true }
        return others.contains { other, last in last > time && other != table }
    }
}
