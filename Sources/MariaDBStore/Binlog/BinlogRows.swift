import RecordStore

/// Rows that a statement inserted, changed or deleted in one table (ROWS_EVENT).
struct BinlogRows: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case insert, update, delete
    }

    let tableID: UInt64
    let kind: Kind
    let columnCount: Int
    /// The columns in the rows, and for an update those in the rows after it.
    let present: BinlogBitmap
    let presentAfter: BinlogBitmap
    /// The rows, inflated.
    let data: [UInt8]

    /// The table id of an event without rows, which only ends a statement.
    static let noTable: UInt64 = 0xFF_FFFF

    /// Returns the kind of rows of an event type; nil for other events.
    static func form(of type: UInt8) -> (kind: Kind, hasExtraData: Bool, isCompressed: Bool)? {
        let kinds: [Kind] = [.insert, .update, .delete]
        switch type {
        case 23...25: return (kinds[Int(type) - 23], false, false)
        case 30...32: return (kinds[Int(type) - 30], true, false)
        case 166...168: return (kinds[Int(type) - 166], false, true)
        case 169...171: return (kinds[Int(type) - 169], true, true)
        default: return nil
        }
    }

    /// Decodes the event after its common header.
    init(
        _ reader: inout PackedReader, kind: Kind, hasExtraData: Bool, isCompressed: Bool, headerLength: Int
    ) throws(BinlogFault) {
        self.kind = kind
        tableID = try reader.littleEndian(headerLength == 6 ? 4 : 6)
        _ = try reader.littleEndian(2)
        if hasExtraData {
            let length = try reader.littleEndian(2)
            guard length >= 2 else { throw .malformed }
            _ = try reader.take(length - 2)
        }
        let count = try reader.lengthEncoded()
        guard count <= BinlogTableMap.mostColumns else { throw .malformed }
        columnCount = Int(count)
        present = try reader.bitmap(columnCount)
        presentAfter = kind == .update ? try reader.bitmap(columnCount) : present
        data = isCompressed ? try BinlogInflation.inflate(&reader) : Array(try reader.rest())
    }
}
