internal import CJansson

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An arena for one document of Jansson, which frees all allocations at once.
///
/// For small bodies, single allocations cost more than the parser itself. A document is parsed, read and freed on one
/// thread without suspension. So the arena belongs to the thread, which keeps the first block for the next document.
struct JSONMemory: ~Copyable {
    private let first: UnsafeMutableRawBufferPointer
    /// Further blocks, each twice as large as the one before.
    private var more: [UnsafeMutableRawBufferPointer] = []
    private var next: UnsafeMutableRawPointer?
    private var left = 0
    /// The number of open documents on the thread, because documents may be nested.
    private var depth = 0
    /// The bytes that the innermost document may still allocate.
    private var allowance = Int.max
    /// True if the innermost document exceeded its limit.
    private var isSpent = false

    private static let firstBlock = 1 << 14

    /// The key of the thread's arena, or nil if there can be none and Jansson uses `malloc`.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        guard pthread_key_create(&key, { JSONMemory.giveBack($0) }) == 0 else { return nil }
        json_set_alloc_funcs(
            { size in JSONMemory.open.map { $0.pointee.take(size) } ?? malloc(size) },
            { piece in if JSONMemory.open == nil { free(piece) } })
        return key
    }()

    private static func giveBack(_ memory: UnsafeMutableRawPointer?) {
        guard let memory = memory?.assumingMemoryBound(to: JSONMemory.self) else { return }
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    /// The thread's arena, if a document is open.
    private static var open: UnsafeMutablePointer<JSONMemory>? {
        let memory = key.flatMap { pthread_getspecific($0) }?.assumingMemoryBound(to: JSONMemory.self)
        return (memory?.pointee.depth ?? 0) > 0 ? memory : nil
    }

    private static func ofThread(_ key: pthread_key_t) -> UnsafeMutablePointer<JSONMemory> {
        if let known = pthread_getspecific(key) { return known.assumingMemoryBound(to: JSONMemory.self) }
        let memory = UnsafeMutablePointer<JSONMemory>.allocate(capacity: 1)
        memory.initialize(to: JSONMemory())
        pthread_setspecific(key, memory)
        return memory
    }

    /// Runs `body`, in which a document of at most `limit` bytes may be created, and frees the document.
    static func scope<Answer, Failure>(
        limit: Int = .max, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        guard let key else { return try body() }
        let memory = ofThread(key)
        let outer = (memory.pointee.allowance, memory.pointee.isSpent)
        (memory.pointee.allowance, memory.pointee.isSpent) = (limit, false)
        memory.pointee.depth += 1
        defer {
            memory.pointee.depth -= 1
            (memory.pointee.allowance, memory.pointee.isSpent) = outer
            if memory.pointee.depth == 0 { memory.pointee.reset() }
        }
        return try body()
    }

    /// True if the open document of this thread exceeded its limit.
    static var isSpent: Bool { open?.pointee.isSpent ?? false }

    private init() {
        first = .allocate(byteCount: Self.firstBlock, alignment: 16)
        next = first.baseAddress
        left = first.count
    }

    deinit {
        for block in more { block.deallocate() }
        first.deallocate()
    }

    private mutating func reset() {
        for block in more { block.deallocate() }
        more = []
        next = first.baseAddress
        left = first.count
    }

    private mutating func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let size = (size + 15) & ~15
        guard size <= allowance else {
            isSpent = true
            return nil
        }
        allowance -= size
        if size > left { grow(size) }
        let piece = next
        next = piece.map { $0 + size }
        left -= size
        return piece
    }

    private mutating func grow(_ size: Int) {
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(size, (more.last ?? first).count * 2), alignment: 16)
        more.append(block)
        next = block.baseAddress
        left = block.count
    }
}
