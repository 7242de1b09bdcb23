/// Assembles events to committed transactions.
///
/// A group of events begins with its id and ends with a COMMIT, or it is one event. XA PREPARE also ends a group.
/// Its changes wait for XA COMMIT.
struct BinlogGroups: Sendable {
    private let watched: WatchedTables
    private var open: OpenGroup?
    /// Prepared transactions, without those from before this reader began.
    private var prepared: [BinlogXID: ForeignTransaction] = [:]
    private var preparedChanges = 0

    /// The maximum number of changes of prepared transactions.
    ///
    /// More changes cause passes.
    static let mostPreparedChanges = 100_000
    static let mostPrepared = 10_000

    init(_ watched: WatchedTables) { self.watched = watched }

    /// Returns the transaction that an event completes; nil if it completes none.
    mutating func add(_ event: BinlogEvent) -> ForeignTransaction? {
        switch event {
        case .ignored, .heartbeat, .gtidList: return nil
        case .start(let start): return begin(start)
        case .tableMap(let map): return change { $0.add(map, of: $1) }
        case .rows(let rows): return change { group, _ in group.add(rows) }
        case .statement: return change { group, _ in group.needsPassOfAll(.statement) }
        case .incident: return change { group, _ in group.needsPassOfAll(.incident) }
        case .undecodable(let fault): return change { group, _ in group.needsPassOfAll(.undecodable(fault)) }
        case .commit: return end()
        case .xaPrepare(let xid, let isOnePhase): return isOnePhase ? end() : prepare(xid)
        case .query(let query): return add(query)
        }
    }

    private mutating func add(_ query: BinlogQuery) -> ForeignTransaction? {
        switch query {
        case .begin:
            if open == nil { open = OpenGroup(nil) }
            return nil
        case .ignored: return change { _, _ in }
        case .commit: return end()
        case .rollback:
            defer { open = nil }
            return open?.interrupted(.incomplete, watched)
        case .xaCommit(let xid): return complete(xid, isCommit: true)
        case .xaRollback(let xid): return complete(xid, isCommit: false)
        case .definition(_, let text): return change { $0.addDefinition(text, $1) }
        case .statement: return change { group, _ in group.needsPassOfAll(.statement) }
        }
    }

    private mutating func begin(_ start: BinlogGroupStart) -> ForeignTransaction? {
        // A server that crashed may leave a group without an end.
        let interrupted = open.map { $0.interrupted(.incomplete, watched) }
        open = OpenGroup(start)
        guard var interrupted, !interrupted.isEmpty else { return nil }
        interrupted.gtid = nil
        return interrupted
    }

    /// Changes the open group, or one of a single event, which is complete afterwards.
    private mutating func change(_ body: (inout OpenGroup, WatchedTables) -> Void) -> ForeignTransaction? {
        let isSingle = open.map { $0.start?.isStandalone ?? false } ?? true
        var group = open.take() ?? OpenGroup(nil)
        body(&group, watched)
        if isSingle { return group.committed(watched) }
        open = group
        return nil
    }

    private mutating func end() -> ForeignTransaction? {
        open.take()?.committed(watched)
    }

    private mutating func prepare(_ xid: BinlogXID) -> ForeignTransaction? {
        guard let transaction = end() else { return nil }
        // A definition cannot be prepared, and the position advances in any case.
        let now = ForeignTransaction(gtid: transaction.gtid)
        guard prepared.count < Self.mostPrepared,
            preparedChanges + transaction.changes.count <= Self.mostPreparedChanges
        else { return now }
        preparedChanges += transaction.changes.count
        prepared[xid] = transaction
        return now
    }

    private mutating func complete(_ xid: BinlogXID?, isCommit: Bool) -> ForeignTransaction? {
        let gtid = open.take()?.start?.gtid
        let transaction = xid.flatMap { prepared.removeValue(forKey: $0) }
        preparedChanges -= transaction?.changes.count ?? 0
        guard isCommit else { return ForeignTransaction(gtid: gtid) }
        guard var transaction else {
            var unknown = ForeignTransaction(gtid: gtid)
            unknown.passes.addAll(.incomplete)
            return unknown
        }
        transaction.gtid = gtid
        return transaction
    }
}
