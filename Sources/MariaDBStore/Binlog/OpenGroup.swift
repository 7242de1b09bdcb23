import MergeCore

/// The events of a transaction before its end.
struct OpenGroup: Sendable {
    let start: BinlogGroupStart?
    private(set) var changes: [WatchedChange] = []
    private(set) var passes = PassNeed()
    private(set) var changesSchema = false
    /// The tables by the ids of this group; nil for tables that are not watched.
    private var maps: [UInt64: (table: TableName, watched: (table: WatchedTable, types: [BinlogColumnType])?)] = [:]
    /// The tables that the group names and the rows it contains.
    private var named: Set<TableName> = []
    private var writes: [TableName: CascadeLinks.Writes] = [:]
    private var size = 0

    /// The most changed rows and their approximate bytes in memory; larger transactions lead to a pass.
    static let mostChanges = 50_000
    static let mostBytes = 32 << 20
    /// The most tables of one transaction.
    static let mostMaps = 4_096

    init(_ start: BinlogGroupStart?) { self.start = start }

    mutating func add(_ map: BinlogTableMap, of watched: WatchedTables) {
        guard maps.count < Self.mostMaps || maps[map.id] != nil else { return passes.addAll(.size) }
        named.insert(map.table)
        guard let table = watched.tables[map.table] else {
            maps[map.id] = (map.table, nil)
            return
        }
        let types = table.types(in: map)
        maps[map.id] = (map.table, types.map { (table, $0) })
        // Also without rows: the definition has changed.
        if types == nil { passes.add(map.table, .form) }
    }

    mutating func add(_ rows: BinlogRows) {
        if rows.tableID == BinlogRows.noTable { return }
        guard let map = maps[rows.tableID] else { return passes.addAll(.incomplete) }
        guard let watched = map.watched else { return note(.unknown(rows.kind), to: map.table) }
        if passes.contains(map.table) { return note(.unknown(rows.kind), to: map.table) }
        do throws(BinlogFault) {
            var reader = try BinlogRowReader(rows, columns: watched.types, watched: watched.table)
            while let change = try reader.next() {
                note(change.writes(watched.table), to: map.table)
                keep(change, size: rows.data.count)
                if passes.contains(map.table) { return note(.unknown(rows.kind), to: map.table) }
            }
            size += rows.data.count
        } catch {
            passes.add(map.table, .undecodable(error))
            note(.unknown(rows.kind), to: map.table)
        }
    }

    private mutating func keep(_ change: WatchedChange, size more: Int) {
        guard changes.count < Self.mostChanges, size + more <= Self.mostBytes else {
            for change in changes { passes.add(change.table, .size) }
            changes = []
            return passes.add(change.table, .size)
        }
        changes.append(change)
    }

    private mutating func note(_ more: CascadeLinks.Writes, to table: TableName) {
        var known = writes[table] ?? CascadeLinks.Writes()
        known.deletesRows = known.deletesRows || more.deletesRows
        known.changedColumns = known.changedColumns.flatMap { columns in more.changedColumns.map { columns.union($0) } }
        writes[table] = known
    }

    mutating func addDefinition(_ text: String, _ watched: WatchedTables) {
        for table in watched.tables.values where table.isNamed(in: text) {
            passes.add(table.name, .definition)
            changesSchema = true
        }
    }

    mutating func needsPassOfAll(_ reason: PassNeed.Reason) { passes.addAll(reason) }

    /// Returns the committed transaction.
    func committed(_ watched: WatchedTables) -> ForeignTransaction {
        var transaction = ForeignTransaction(
            gtid: start?.gtid, changes: [], passes: passes, changesSchema: changesSchema)
        var writes = writes
        // The group names tables that a foreign key may change. If such a table is not watched, its own foreign keys may
        // lead to a watched one.
        for table in named where writes[table] == nil && watched.tables[table] == nil { writes[table] = .unknown }
        for table in watched.cascades.reached(by: writes) where watched.tables[table] != nil {
            transaction.passes.add(table, .cascade)
        }
        transaction.changes = changes.filter { !transaction.passes.contains($0.table) }
        return transaction
    }

    /// Returns what an incomplete or rolled back group may have changed: its tables without transactions.
    func interrupted(_ reason: PassNeed.Reason, _ watched: WatchedTables) -> ForeignTransaction {
        var transaction = committed(watched)
        for change in transaction.changes { transaction.passes.add(change.table, reason) }
        transaction.changes = []
        return transaction
    }
}

extension CascadeLinks.Writes {
    fileprivate static func unknown(_ kind: BinlogRows.Kind) -> Self {
        switch kind {
        case .insert: Self()
        case .update: Self(deletesRows: false, changedColumns: nil)
        case .delete: Self(deletesRows: true, changedColumns: [])
        }
    }
}

extension WatchedChange {
    /// The effect on foreign keys that refer to the row.
    ///
    /// Columns that are not watched may have changed in each update.
    fileprivate func writes(_ table: WatchedTable) -> CascadeLinks.Writes {
        switch kind {
        case .insert: return CascadeLinks.Writes()
        case .delete: return CascadeLinks.Writes(deletesRows: true, changedColumns: [])
        case .update:
            guard let before, let after else { return .unknown }
            let same = table.columns.indices.filter { before[$0] == after[$0] && before[$0] != .absent }
            let unchanged = Set(same.map { table.columns[$0].ordinal })
            return CascadeLinks.Writes(
                deletesRows: false, changedColumns: Set(0..<table.columnCount).subtracting(unchanged))
        }
    }
}
