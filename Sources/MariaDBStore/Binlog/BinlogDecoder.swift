import RecordStore

/// Decodes the events of a binary log one after the other, from bytes alone.
struct BinlogDecoder: Sendable {
    /// The form of the current file; nil before the first event.
    private var format: BinlogFormat?

    init() {}

    /// Decodes an event with its header and its checksum.
    mutating func decode(_ bytes: [UInt8]) -> BinlogEvent {
        do throws(BinlogFault) {
            return try event(bytes)
        } catch {
            return .undecodable(error)
        }
    }

    private mutating func event(_ bytes: [UInt8]) throws(BinlogFault) -> BinlogEvent {
        var reader = PackedReader(bytes)
        let header = try BinlogEventHeader(&reader)
        guard header.length == bytes.count else { throw .malformed }
        if header.type == BinlogEventType.formatDescription {
            format = try BinlogFormat(&reader)
            return .ignored
        }
        if BinlogEventType.ignored.contains(header.type) { return .ignored }
        if BinlogEventType.heartbeats.contains(header.type) { return .heartbeat }
        guard let format else { throw .unsupported }
        var body = PackedReader(try format.withoutChecksum(bytes))
        _ = try body.take(BinlogEventHeader.size)
        return try Self.event(&body, with: header, in: format)
    }

    private static func event(
        _ body: inout PackedReader, with header: BinlogEventHeader, in format: BinlogFormat
    ) throws(BinlogFault) -> BinlogEvent {
        let length = format.headerLength(of: header.type)
        switch header.type {
        case BinlogEventType.gtid: return .start(try BinlogGroupStart(&body, header))
        case BinlogEventType.gtidList: return .gtidList(try BinlogGTID.list(&body))
        case BinlogEventType.tableMap: return .tableMap(try BinlogTableMap(&body, headerLength: length))
        case BinlogEventType.query, BinlogEventType.compressedQuery:
            let isCompressed = header.type == BinlogEventType.compressedQuery
            return .query(try BinlogQuery(&body, headerLength: length, isCompressed: isCompressed))
        case BinlogEventType.xid: return .commit
        case BinlogEventType.xaPrepare:
            let (xid, isOnePhase) = try BinlogXID.prepared(&body)
            return .xaPrepare(xid, isOnePhase: isOnePhase)
        case BinlogEventType.incident: return .incident
        default: break
        }
        if let form = BinlogRows.form(of: header.type) {
            return .rows(
                try BinlogRows(
                    &body, kind: form.kind, hasExtraData: form.hasExtraData, isCompressed: form.isCompressed,
                    headerLength: length))
        }
        if BinlogEventType.statementLogged.contains(header.type) { return .statement }
        return header.isIgnorable ? .ignored : .undecodable(.unsupported)
    }
}
