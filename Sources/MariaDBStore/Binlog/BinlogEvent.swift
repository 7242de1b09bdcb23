/// One event of the binary log, as far as it matters for rows.
enum BinlogEvent: Sendable, Hashable {
    case ignored
    /// The server is idle.
    case heartbeat
    /// The last transactions before a file.
    case gtidList([BinlogGTID])
    case start(BinlogGroupStart)
    case tableMap(BinlogTableMap)
    case rows(BinlogRows)
    case query(BinlogQuery)
    /// The COMMIT of a transactional engine.
    case commit
    case xaPrepare(BinlogXID, isOnePhase: Bool)
    /// Part of a statement that may have changed any row.
    case statement
    /// The server lost events.
    case incident
    /// An event that may concern any row.
    case undecodable(BinlogFault)
}
