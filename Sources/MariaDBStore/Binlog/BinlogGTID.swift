import RecordStore

/// A global transaction id of MariaDB.
struct BinlogGTID: Sendable, Hashable, CustomStringConvertible {
    let domain: UInt32
    let server: UInt32
    let sequence: UInt64

    var description: String { "\(domain)-\(server)-\(sequence)" }
}

/// The last transaction of each domain: a position in the binary log.
struct BinlogPosition: Sendable, Hashable, CustomStringConvertible {
    private(set) var last: [UInt32: BinlogGTID] = [:]

    init() {}

    init(_ list: [BinlogGTID]) {
        for gtid in list { advance(to: gtid) }
    }

    /// Reads a list such as `0-1-270,2-1-9`; nil if it is not one.
    init?(_ text: String) {
        for part in text.split(separator: ",") {
            let numbers = part.split(separator: "-", omittingEmptySubsequences: false)
            guard numbers.count == 3, let domain = UInt32(numbers[0]), let server = UInt32(numbers[1]),
                let sequence = UInt64(numbers[2])
            else { return nil }
            advance(to: BinlogGTID(domain: domain, server: server, sequence: sequence))
        }
    }

    mutating func advance(to gtid: BinlogGTID) { last[gtid.domain] = gtid }

    /// Returns true if this position is not before another one in any domain.
    func hasReached(_ other: BinlogPosition) -> Bool {
        other.last.allSatisfy { domain, gtid in last[domain].map { $0.sequence >= gtid.sequence } ?? false }
    }

    /// The list as the server reads it.
    var description: String {
        last.values.sorted { $0.domain < $1.domain }.map(\.description).joined(separator: ",")
    }
}

/// The beginning of a group of events, which is one transaction or one statement.
struct BinlogGroupStart: Sendable, Hashable {
    let gtid: BinlogGTID
    /// The second in which the server wrote the event.
    let timestamp: UInt32
    /// True if the group is one event without a COMMIT, such as a change of a table's definition.
    let isStandalone: Bool
    /// True if the group ends with XA PREPARE.
    let isPrepared: Bool
    /// True if the group is an XA COMMIT or XA ROLLBACK.
    let isCompletion: Bool

    /// Decodes a GTID_EVENT after its common header.
    init(_ reader: inout PackedReader, _ header: BinlogEventHeader) throws(BinlogFault) {
        let sequence = try reader.littleEndian(8)
        let domain = UInt32(try reader.littleEndian(4))
        let flags = try reader.littleEndian(1)
        gtid = BinlogGTID(domain: domain, server: header.serverID, sequence: sequence)
        timestamp = header.timestamp
        isStandalone = flags & 0x01 != 0
        isPrepared = flags & 0x40 != 0
        isCompletion = flags & 0x80 != 0
    }
}

extension BinlogGTID {
    /// Decodes a GTID_LIST_EVENT after its common header.
    static func list(_ reader: inout PackedReader) throws(BinlogFault) -> [BinlogGTID] {
        // The highest four bits are flags.
        let count = Int(try reader.littleEndian(4) & 0x0FFF_FFFF)
        guard count * 16 <= reader.remaining else { throw .malformed }
        var list: [BinlogGTID] = []
        for _ in 0..<count {
            let domain = UInt32(try reader.littleEndian(4))
            let server = UInt32(try reader.littleEndian(4))
            list.append(BinlogGTID(domain: domain, server: server, sequence: try reader.littleEndian(8)))
        }
        return list
    }
}
