internal import CZlib

/// Packs long bodies, answers and entries of the journal with gzip (RFC 1952).
///
/// JSON never begins with the first two bytes of gzip, so older rows are read unchanged.
package enum PackedBytes {
    /// Shorter bytes are not packed: most pushes and answers are short, and packing would cost more than it saves.
    static let shortest = 2_048
    private static let window: Int32 = 15 + 16

    /// Returns the packed bytes; the same bytes if packing saves nothing or zlib has no memory.
    package static func pack(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= shortest, let packed = gzip(bytes), packed.count < bytes.count else { return bytes }
        return packed
    }

    /// Returns bytes in gzip; nil if zlib has no memory.
    package static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        let status = deflateInit2_(
            &stream, Z_BEST_SPEED, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        var isDone = false
        let packed = bytes.withUnsafeBytes { input in
            [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
                stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(bound)
                isDone = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = bound - Int(stream.avail_out)
            }
        }
        return isDone ? packed : nil
    }

    /// Returns unpacked bytes; bytes that are damaged or not packed stay unchanged.
    package static func unpack(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
        var stream = z_stream()
        guard inflateInit2_(&stream, window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return bytes
        }
        defer { inflateEnd(&stream) }
        var out: [UInt8] = []
        let isWhole = bytes.withUnsafeBytes { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
            stream.avail_in = UInt32(input.count)
            var status = Z_OK
            while status == Z_OK {
                out += [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = 65_536
                    status = inflate(&stream, Z_NO_FLUSH)
                    count = 65_536 - Int(stream.avail_out)
                }
            }
            return status == Z_STREAM_END
        }
        return isWhole ? out : bytes
    }
}
