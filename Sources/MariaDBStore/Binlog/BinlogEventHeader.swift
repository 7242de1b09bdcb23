import RecordStore

/// The first 19 bytes of an event.
struct BinlogEventHeader: Sendable, Hashable {
    let timestamp: UInt32
    let type: UInt8
    let serverID: UInt32
    /// The bytes of the event, with its header and its checksum.
    let length: Int
    let flags: UInt16

    static let size = 19

    init(_ reader: inout PackedReader) throws(BinlogFault) {
        timestamp = UInt32(try reader.littleEndian(4))
        type = UInt8(try reader.littleEndian(1))
        serverID = UInt32(try reader.littleEndian(4))
        length = Int(try reader.littleEndian(4))
        _ = try reader.littleEndian(4)
        flags = UInt16(try reader.littleEndian(2))
    }

    var isIgnorable: Bool { flags & BinlogEventType.ignorableFlag != 0 }
}
