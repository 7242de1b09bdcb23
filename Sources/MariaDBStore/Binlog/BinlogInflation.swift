internal import CZlib
import RecordStore

/// Inflates the compressed part of an event.
///
/// Its first byte is 0x80, the algorithm (0: zlib) times 16, and the number of bytes of the length, which follows with the
/// highest byte first.
enum BinlogInflation {
    /// The maximum number of bytes of an event.
    ///
    /// The server writes longer events only for longer rows.
    static let longest = 64 << 20

    static func inflate(_ reader: inout PackedReader) throws(BinlogFault) -> [UInt8] {
        let first = try reader.littleEndian(1)
        guard first & 0xF0 == 0x80, (1...4).contains(first & 0x07) else { throw .unsupported }
        guard let length = Int(exactly: try reader.take(Int(first & 0x07)).bigEndian) else { throw .malformed }
        guard length <= longest else { throw .tooLong }
        let packed = try reader.rest()
        var status = Z_DATA_ERROR
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var size = UInt(length)
            status = packed.withUnsafeBytes { input in
                // zlib accepts no null pointers.
                guard let target = buffer.baseAddress, let source = input.bindMemory(to: Bytef.self).baseAddress else {
                    return Z_DATA_ERROR
                }
                return uncompress(target, &size, source, UInt(input.count))
            }
            count = status == Z_OK ? Int(size) : 0
        }
        guard status == Z_OK, bytes.count == length else { throw .malformed }
        return bytes
    }
}
