internal import CZlib
import RecordStore

/// The form of the events of one file (FORMAT_DESCRIPTION_EVENT).
struct BinlogFormat: Sendable, Hashable {
    /// True if each event ends with a CRC-32 of its bytes.
    let hasChecksums: Bool
    /// The bytes of each event type's own header.
    private let headerLengths: [UInt8]

    static let checksumSize = 4

    /// Decodes the event after its common header.
    ///
    /// The event always contains the kind of checksum and four bytes for one.
    init(_ reader: inout PackedReader) throws(BinlogFault) {
        guard try reader.littleEndian(2) == 4 else { throw .unsupported }
        _ = try reader.take(50 + 4)
        guard try reader.littleEndian(1) == BinlogEventHeader.size else { throw .unsupported }
        let rest = try reader.rest()
        guard rest.count >= 1 + Self.checksumSize else { throw .malformed }
        headerLengths = Array(rest.dropLast(1 + Self.checksumSize))
        switch rest[rest.endIndex - 1 - Self.checksumSize] {
        case 0, 255: hasChecksums = false
        case 1: hasChecksums = true
        default: throw .unsupported
        }
    }

    /// Returns the bytes of an event type's own header; 0 if the server does not write this type.
    func headerLength(of type: UInt8) -> Int {
        type >= 1 && Int(type) <= headerLengths.count ? Int(headerLengths[Int(type) - 1]) : 0
    }

    /// Returns an event without its checksum.
    ///
    /// - Throws: `BinlogFault` if the checksum is wrong.
    func withoutChecksum(_ bytes: [UInt8]) throws(BinlogFault) -> [UInt8] {
        guard hasChecksums else { return bytes }
        guard bytes.count >= BinlogEventHeader.size + Self.checksumSize else { throw .malformed }
        let end = bytes.count - Self.checksumSize
        guard Self.checksum(bytes[..<end]) == bytes[end...].littleEndian else { throw .checksum }
        return Array(bytes[..<end])
    }

    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { buffer in
            UInt64(crc32_z(crc32_z(0, nil, 0), buffer.bindMemory(to: Bytef.self).baseAddress, buffer.count))
        }
    }
}
