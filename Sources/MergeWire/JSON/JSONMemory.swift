internal import CJansson

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The memory that Jansson builds one document in: handed out piece after piece, and given back all at once.
///
/// A body of one edit makes some eighty objects, and to take and give back each by itself costs more than to parse it.
/// A document is parsed, read and dropped on one thread without a pause, so its memory belongs to that thread, which
/// keeps the first block for the next document.
struct JSONMemory: ~Copyable {
    private let first: UnsafeMutableRawBufferPointer
    /// Those that the first did not suffice for, each twice as large as the one before.
    private var more: [UnsafeMutableRawBufferPointer] = []
    private var next: UnsafeMutableRawPointer?
    private var left = 0
    /// Documents that are open on the thread; one may be read within another.
    private var depth = 0
    /// Bytes that the innermost document may still take.
    private var allowance = Int.max
    /// The innermost document wanted more than it may take.
    private var isSpent = false

    private static let firstBlock = 1 << 14

    /// nil where Jansson cannot be given other memory; then it takes its own.
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

    /// That of the thread, where a document is open.
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

    /// Runs `body`, in which a document may be made; it is gone afterwards.
    ///
    /// - Parameter limit: the bytes that the document may take; Jansson makes none that would take more.
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

    /// True where the document that is open on this thread wanted more than it may take.
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
