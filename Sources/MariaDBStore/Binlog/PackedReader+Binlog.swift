import RecordStore

/// The numbers and lengths of the binary log.
///
/// Source: MariaDB Knowledge Base, "Replication Protocol".
extension PackedReader {
    mutating func take(_ count: Int) throws(BinlogFault) -> ArraySlice<UInt8> {
        guard let bytes = bytes(count) else { throw .malformed }
        return bytes
    }

    mutating func take(_ count: UInt64) throws(BinlogFault) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: count) else { throw .malformed }
        return try take(count)
    }

    /// Reads a number of at most eight bytes, the lowest first.
    mutating func littleEndian(_ count: Int) throws(BinlogFault) -> UInt64 {
        try take(count).littleEndian
    }

    /// Reads a number of one to nine bytes whose first byte determines its length.
    mutating func lengthEncoded() throws(BinlogFault) -> UInt64 {
        let first = try littleEndian(1)
        switch first {
        case 0...250: return first
        case 252: return try littleEndian(2)
        case 253: return try littleEndian(3)
        case 254: return try littleEndian(8)
        default: throw .malformed
        }
    }

    /// Reads a text with its length in one byte and a zero byte at the end.
    mutating func name() throws(BinlogFault) -> String {
        let bytes = try take(try littleEndian(1))
        guard try littleEndian(1) == 0 else { throw .malformed }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a bit for each of some columns.
    mutating func bitmap(_ count: Int) throws(BinlogFault) -> BinlogBitmap {
        BinlogBitmap(bytes: try take((count + 7) / 8))
    }

    /// Reads all remaining bytes.
    mutating func rest() throws(BinlogFault) -> ArraySlice<UInt8> { try take(remaining) }
}

extension ArraySlice<UInt8> {
    /// The number in at most eight bytes, the lowest first.
    var littleEndian: UInt64 { reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    /// The number in at most eight bytes, the highest first.
    var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A bit for each column, the lowest bit of the first byte first.
struct BinlogBitmap: Sendable, Hashable {
    let bytes: ArraySlice<UInt8>

    func contains(_ index: Int) -> Bool {
        guard index >= 0, index / 8 < bytes.count else { return false }
        return bytes[bytes.startIndex + index / 8] >> UInt8(index % 8) & 1 == 1
    }

    /// Returns the number of set bits among the first columns.
    func count(of columns: Int) -> Int { (0..<columns).count { contains($0) } }
}
