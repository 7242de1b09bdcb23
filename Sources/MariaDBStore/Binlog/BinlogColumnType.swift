import RecordStore

/// The type of a column in a TABLE_MAP_EVENT, which determines the length of its values.
enum BinlogColumnType: Sendable, Hashable {
    case integer(bytes: Int)
    case year
    case date
    /// TIMESTAMP, TIME and DATETIME in the format before MariaDB 10.1, without a fraction.
    case oldTimestamp, oldTime, oldDateTime
    case timestamp(fraction: Int)
    case time(fraction: Int)
    case dateTime(fraction: Int)
    case float
    case double
    case decimal(precision: Int, scale: Int)
    case bit(bytes: Int)
    /// CHAR, VARCHAR, TEXT, BINARY, BLOB, UUID and INET; the number of bytes of the length.
    case bytes(prefix: Int)
    /// A compressed column, MySQL's JSON or a geometry, which is skipped; the number of bytes of the length.
    case opaque(prefix: Int)
    case enumeration(bytes: Int)
    case set(bytes: Int)

    /// Decodes a type with its metadata; nil if the type is unknown, because then the length of its metadata is too.
    init?(code: UInt8, metadata reader: inout PackedReader) throws(BinlogFault) {
        switch code {
        case 1: self = .integer(bytes: 1)
        case 2: self = .integer(bytes: 2)
        case 9: self = .integer(bytes: 3)
        case 3: self = .integer(bytes: 4)
        case 8: self = .integer(bytes: 8)
        case 13: self = .year
        case 10, 14: self = .date
        case 7: self = .oldTimestamp
        case 11: self = .oldTime
        case 12: self = .oldDateTime
        case 4, 5: self = try Self.floating(bytes: try reader.littleEndian(1))
        case 17: self = .timestamp(fraction: try Self.fraction(&reader))
        case 18: self = .dateTime(fraction: try Self.fraction(&reader))
        case 19: self = .time(fraction: try Self.fraction(&reader))
        case 246: self = try Self.decimal(&reader)
        case 15, 253: self = .bytes(prefix: try reader.littleEndian(2) < 256 ? 1 : 2)
        case 141: self = .opaque(prefix: try reader.littleEndian(2) < 256 ? 1 : 2)
        case 249, 250, 251, 252: self = .bytes(prefix: try Self.prefix(&reader))
        case 140, 245, 255: self = .opaque(prefix: try Self.prefix(&reader))
        case 16: self = try Self.bit(&reader)
        case 254: self = try Self.string(&reader)
        default: return nil
        }
    }

    private static func floating(bytes: UInt64) throws(BinlogFault) -> BinlogColumnType {
        switch bytes {
        case 4: .float
        case 8: .double
        default: throw .malformed
        }
    }

    private static func fraction(_ reader: inout PackedReader) throws(BinlogFault) -> Int {
        let digits = Int(try reader.littleEndian(1))
        guard digits <= 6 else { throw .malformed }
        return digits
    }

    private static func decimal(_ reader: inout PackedReader) throws(BinlogFault) -> BinlogColumnType {
        let precision = Int(try reader.littleEndian(1))
        let scale = Int(try reader.littleEndian(1))
        guard (1...81).contains(precision), scale <= precision else { throw .malformed }
        return .decimal(precision: precision, scale: scale)
    }

    private static func prefix(_ reader: inout PackedReader) throws(BinlogFault) -> Int {
        let count = Int(try reader.littleEndian(1))
        guard (1...4).contains(count) else { throw .malformed }
        return count
    }

    private static func bit(_ reader: inout PackedReader) throws(BinlogFault) -> BinlogColumnType {
        let bits = try reader.littleEndian(1)
        let bytes = Int(try reader.littleEndian(1)) + (bits > 0 ? 1 : 0)
        guard bits < 8, (1...8).contains(bytes) else { throw .malformed }
        return .bit(bytes: bytes)
    }

    /// The length of a long CHAR also occupies two bits of the first byte, inverted.
    private static func string(_ reader: inout PackedReader) throws(BinlogFault) -> BinlogColumnType {
        let first = try reader.littleEndian(1)
        let second = try reader.littleEndian(1)
        switch first {
        case 247:
            guard (1...2).contains(second) else { throw .malformed }
            return .enumeration(bytes: Int(second))
        case 248:
            guard (1...8).contains(second) else { throw .malformed }
            return .set(bytes: Int(second))
        default:
            let longest = second + ((first & 0x30) ^ 0x30) << 4
            return .bytes(prefix: longest < 256 ? 1 : 2)
        }
    }

    /// Reads the bytes of a value that is not NULL, without the length.
    func take(from reader: inout PackedReader) throws(BinlogFault) -> ArraySlice<UInt8> {
        switch self {
        case .bytes(let prefix), .opaque(let prefix): try reader.take(try reader.littleEndian(prefix))
        default: try reader.take(fixedLength)
        }
    }

    private var fixedLength: Int {
        switch self {
        case .integer(let bytes), .bit(let bytes), .enumeration(let bytes), .set(let bytes): bytes
        case .year: 1
        case .date, .oldTime: 3
        case .oldTimestamp, .float: 4
        case .oldDateTime, .double: 8
        case .timestamp(let digits): 4 + (digits + 1) / 2
        case .time(let digits): 3 + (digits + 1) / 2
        case .dateTime(let digits): 5 + (digits + 1) / 2
        case .decimal(let precision, let scale): PackedDecimal.length(precision: precision, scale: scale)
        case .bytes, .opaque: 0
        }
    }

    /// True for the old formats, whose metadata does not contain a fraction.
    var hasUnknownFraction: Bool { self == .oldTimestamp || self == .oldTime || self == .oldDateTime }
}
