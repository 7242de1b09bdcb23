import RecordStore

/// A stored position, with the last transaction before it.
///
/// After RESET MASTER, another transaction may get the number of that transaction. So a reader begins with it, and
/// compares its time.
struct BinlogCheckpoint: Sendable, Hashable, CustomStringConvertible {
    /// The last transaction that was read.
    struct Last: Sendable, Hashable {
        let gtid: BinlogGTID
        /// The second of its event.
        let timestamp: UInt32
    }

    /// The position at which a reader begins.
    private(set) var start: BinlogPosition
    private(set) var last: Last?

    init(start: BinlogPosition) { self.start = start }

    /// The position after the last transaction.
    var position: BinlogPosition {
        var position = start
        if let last { position.advance(to: last.gtid) }
        return position
    }

    mutating func advance(to next: Last) {
        start = position
        last = next
    }

    // MARK: Text

    /// Reads `description`; nil if it is damaged.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let start = BinlogPosition(String(parts[0])), [1, 3].contains(parts.count) else { return nil }
        self.start = start
        if parts.count == 1 { return }
        guard let gtid = BinlogPosition(String(parts[1]))?.last.values.first, let timestamp = UInt32(parts[2]) else {
            return nil
        }
        last = Last(gtid: gtid, timestamp: timestamp)
    }

    /// A list of ids, and the last transaction with its time: `0-1-269 0-1-270 1795689600`.
    var description: String { last.map { "\(start) \($0.gtid) \($0.timestamp)" } ?? "\(start)" }
}
