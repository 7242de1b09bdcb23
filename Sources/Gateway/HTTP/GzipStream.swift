internal import CZlib

/// A gzip body (RFC 1952) that is compressed piece by piece.
final class GzipStream {
    private let stream: UnsafeMutablePointer<z_stream>
    private static let chunk = 32 * 1_024

    /// - Throws: `Gzip.Failure` if zlib has no memory.
    init() throws(Gzip.Failure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Z_BEST_SPEED, Z_DEFLATED, Int32(Gzip.window), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            throw .noMemory
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns all compressed bytes so far.
    func pack(_ piece: [UInt8], isLast: Bool = false) -> [UInt8] {
        var out: [UInt8] = []
        piece.withUnsafeBytes { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            var isFull = true
            while isFull {
                out += [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(Self.chunk)
                    _ = deflate(stream, isLast ? Z_FINISH : Z_SYNC_FLUSH)
                    count = Self.chunk - Int(stream.pointee.avail_out)
                    isFull = stream.pointee.avail_out == 0
                }
            }
        }
        return out
    }
}
