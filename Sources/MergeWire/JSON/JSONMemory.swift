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
struct JSONMemory: ~Copyable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    private var next: UnsafeMutableRawPointer?
    private var left = 0

    private static let firstBlock = 1 << 14

    /// nil where Jansson cannot be given other memory; then it takes its own.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        guard pthread_key_create(&key, nil) == 0 else { return nil }
        json_set_alloc_funcs(
            { size in JSONMemory.current.map { $0.pointee.take(size) } ?? malloc(size) },
            { piece in if JSONMemory.current == nil { free(piece) } })
        return key
    }()

    private static var current: UnsafeMutablePointer<JSONMemory>? {
        key.flatMap { pthread_getspecific($0) }?.assumingMemoryBound(to: JSONMemory.self)
    }

    /// Runs `body`, in which a document may be made; it is gone afterwards.
    static func scope<Answer, Failure>(_ body: () throws(Failure) -> Answer) throws(Failure) -> Answer {
        guard let key else { return try body() }
        let outer = pthread_getspecific(key)
        let memory = UnsafeMutablePointer<JSONMemory>.allocate(capacity: 1)
        memory.initialize(to: JSONMemory())
        pthread_setspecific(key, memory)
        defer {
            pthread_setspecific(key, outer)
            memory.deinitialize(count: 1)
            memory.deallocate()
        }
        return try body()
    }

    deinit {
        for block in blocks { block.deallocate() }
    }

    private mutating func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let size = (size + 15) & ~15
        if size > left { grow(size) }
        let piece = next
        next = piece.map { $0 + size }
        left -= size
        return piece
    }

    private mutating func grow(_ size: Int) {
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(size, (blocks.last?.count ?? Self.firstBlock / 2) * 2), alignment: 16)
        blocks.append(block)
        next = block.baseAddress
        left = block.count
    }
}
