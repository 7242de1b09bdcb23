internal import CZlib
import RecordStore

/// Gzip bodies (RFC 1952), with one or several members.
enum Gzip {
    enum Failure: Error {
        case malformed
        case tooLarge
        case noMemory
    }

    static let window = 15 + 16
    private static let chunk = 64 * 1_024

    /// - Parameter limit: the maximum unpacked bytes, against decompression bombs.
    static func unpack(_ packed: UnsafeRawBufferPointer, limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        guard
            inflateInit2_(&stream, Int32(window), ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw .malformed }
        defer { inflateEnd(&stream) }
        stream.next_in = UnsafeMutablePointer(mutating: packed.bindMemory(to: Bytef.self).baseAddress)
        stream.avail_in = UInt32(packed.count)
        var out: [UInt8] = []
        while true {
            var status = Z_OK
            let piece = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(chunk)
                status = inflate(&stream, Z_NO_FLUSH)
                count = chunk - Int(stream.avail_out)
            }
            out += piece
            guard out.count <= limit else { throw .tooLarge }
            if status == Z_STREAM_END {
                if stream.avail_in == 0 { return out }
                guard inflateReset(&stream) == Z_OK else { throw .malformed }
                continue
            }
            guard status == Z_OK, !(piece.isEmpty && stream.avail_in == 0) else { throw .malformed }
        }
    }

    /// Returns a compressed body; nil if zlib has no memory.
    static func pack(_ body: [UInt8]) -> [UInt8]? { PackedBytes.gzip(body) }
}
