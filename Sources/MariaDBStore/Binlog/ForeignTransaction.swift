import MergeCore

/// A committed transaction of the binary log, as far as it concerns watched tables.
struct ForeignTransaction: Sendable, Hashable {
    /// The transaction's id; nil if the server has no ids (MySQL).
    var gtid: BinlogGTID?
    /// The changed rows, in the order of the log.
    var changes: [WatchedChange] = []
    /// The tables whose changes the log does not contain completely.
    var passes = PassNeed()
    /// True if a table's definition may have changed.
    var changesSchema = false

    var isEmpty: Bool { changes.isEmpty && passes.isEmpty && !changesSchema }
}

/// The tables that need one pass of the scan, and why.
struct PassNeed: Sendable, Hashable {
    enum Reason: Sendable, Hashable {
        /// The log contains a statement instead of rows.
        case statement
        /// The table's definition changed, or TRUNCATE emptied it.
        case definition
        /// A foreign key changed rows, which the log does not contain.
        case cascade
        /// An event or a value cannot be decoded.
        case undecodable(BinlogFault)
        /// The table has another form than when its schema was read.
        case form
        /// The transaction changed more rows than are kept in memory.
        case size
        /// The end of a transaction is unknown, or its beginning was not read.
        case incomplete
        /// The server reports that it lost events.
        case incident
    }

    /// The reason for which all tables need a pass; nil if only some do.
    private(set) var all: Reason?
    private(set) var tables: [TableName: Reason] = [:]

    var isEmpty: Bool { all == nil && tables.isEmpty }

    mutating func add(_ table: TableName, _ reason: Reason) {
        if all == nil, tables[table] == nil { tables[table] = reason }
    }

    mutating func addAll(_ reason: Reason) {
        if all == nil { all = reason }
        tables = [:]
    }

    mutating func add(_ other: PassNeed) {
        if let reason = other.all { addAll(reason) }
        for (table, reason) in other.tables { add(table, reason) }
    }

    func contains(_ table: TableName) -> Bool { all != nil || tables[table] != nil }
}
