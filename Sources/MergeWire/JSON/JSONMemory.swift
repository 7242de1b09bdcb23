internal import CJansson

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The memory that Jansson builds one document in: handed out piece after piece, and given back all at once.
///
/// A body of one edit makes some eighty objects, and to take and give back each by itself costs more than to parse it.
/// A document is parsed, read and dropped on one thread without a pause, so its memory belongs to that thread.
final class JSONMemory {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    private var used = 0

    private static let firstBlock = 1 << 14

    /// nil where Jansson cannot be given other memory; then it takes its own.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        guard pthread_key_create(&key, nil) == 0 else { return nil }
        json_set_alloc_funcs(
            { size in JSONMemory.current?.take(size) ?? malloc(size) },
            { piece in if JSONMemory.current == nil { free(piece) } })
        return key
    }()

    private static var current: JSONMemory? {
        guard let key, let pointer = pthread_getspecific(key) else { return nil }
        return Unmanaged<JSONMemory>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Runs `body`, in which a document may be made; it is gone afterwards.
    static func scope<Answer, Failure>(_ body: () throws(Failure) -> Answer) throws(Failure) -> Answer {
        guard let key else { return try body() }
        let outer = pthread_getspecific(key)
        let memory = JSONMemory()
        pthread_setspecific(key, Unmanaged.passUnretained(memory).toOpaque())
        defer { pthread_setspecific(key, outer) }
        return try withExtendedLifetime(memory) { () throws(Failure) -> Answer in try body() }
    }

    deinit {
        for block in blocks { block.deallocate() }
    }

    private func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let size = (size + 15) & ~15
        if let block = blocks.last, used + size <= block.count {
            defer { used += size }
            return block.baseAddress.map { $0 + used }
        }
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(size, (blocks.last?.count ?? Self.firstBlock / 2) * 2), alignment: 16)
        blocks.append(block)
        used = size
        return block.baseAddress
    }
}
