package import MergeCore
package import RecordStore
import Synchronization

extension MergeService {
    /// Reads a page of records in key order in one snapshot, in pieces, to limit memory.
    ///
    /// - Parameters:
    ///   - key: the key before the first record.
    ///   - limit: the number of records.
    ///   - viewer: the client that reads; nil without access rules.
    ///   - hashKey: the key of the rows' hashes; nil if no digests are needed.
    ///   - size: the size of the first piece.
    ///   - piece: called with each piece, at least once, on a thread that may block. It must not wait for a client,
    ///     because it blocks the database connection. It returns the bytes of the records, or nil to end the page.
    /// - Returns: the key before the next page; nil at the end.
    /// - Throws: `StoreError`; after some pieces, the page is incomplete.
    package func page(
        _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer? = nil,
        deadline: ContinuousClock.Instant, hashing hashKey: SipHash.Key?, from size: PieceSize,
        piece: @escaping @Sendable ([ReadRecord], RecordDigests?) -> Int?
    ) async throws(StoreError) -> RecordKey? {
        try await read(
            resource, after: key, limit: limit, for: viewer, deadline: deadline, caller: nil, hashKey: hashKey,
            size: size, piece: piece)
    }

    /// Reads a page without the digests of its rows.
    package func page(
        _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer? = nil,
        deadline: ContinuousClock.Instant, caller: Caller? = nil, piece: @escaping @Sendable ([ReadRecord]) -> Int?
    ) async throws(StoreError) -> RecordKey? {
        try await read(
            resource, after: key, limit: limit, for: viewer, deadline: deadline, caller: caller, hashKey: nil,
            size: pieceSize(of: [resource])
        ) { records, _ in piece(records) }
    }

    private func read(
        _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer?,
        deadline: ContinuousClock.Instant, caller: Caller?, hashKey: SipHash.Key?, size: PieceSize,
        piece: @escaping @Sendable ([ReadRecord], RecordDigests?) -> Int?
    ) async throws(StoreError) -> RecordKey? {
        let hasBegun = Atomic<Bool>(false)
        let dialect = engine.dialect
        let rowsPerRecord = limits.rowsPerRecord
        let isLong = (lengths.mean(of: resource) ?? 0) * limit >= Self.longPage
        let (lengths, unreadable) = (lengths, unreadable)
        try await longReads.acquire(if: isLong, until: deadline, for: caller)
        defer { longReads.release(if: isLong) }
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
            // Pieces that were sent cannot be sent again.
            guard !hasBegun.load(ordering: .relaxed) else {
                throw StoreError(.unavailable, "the connection to the database broke in the middle of a page")
            }
            let digests = hashKey.map { RecordDigests(key: $0) }
            var reader = RecordReader(
                resource: resource, session: session, dialect: dialect, rowsPerRecord: rowsPerRecord,
                digests: digests)
            reader.view = viewer?.view(of: resource)
            var omitted = OmittedRows()
            reader.reportOmitted = { rows in
                omitted.add(rows)
                unreadable.note(omitted, of: resource, resource.root)
            }
            var place = PagePlace(resource, after: key)
            var left = limit
            var size = size
            while true {
                let wanted = min(left, size.records)
                // One additional record shows if there is a next page.
                let found = try place.read(wanted + 1, reader)
                let records = Array(found.prefix(wanted))
                hasBegun.store(true, ordering: .relaxed)
                let bytes = piece(records, digests)
                lengths.note(records.compactMap(\.readable), of: resource)
                unreadable.note(records, of: resource)
                left -= records.count
                guard found.count > wanted else {
                    if key == nil, omitted.count == 0 { unreadable.noteComplete(resource, resource.root) }
                    return nil
                }
                place.advance(records)
                guard left > 0, let bytes else { return place.key }
                size.note(records: records.count, bytes: bytes)
            }
        }
    }

    /// The length in bytes from which a page is long.
    private static let longPage = 4 << 20
}

/// The position: the last key or, without a key, the number of records before.
private enum PagePlace {
    case after(RecordKey?)
    case at(Int)

    init(_ resource: Resource, after key: RecordKey?) {
        guard resource.root.keyCount == 0 else {
            self = .after(key)
            return
        }
        var offset = 0
        if case .integer(let number)? = key?.parts.first { offset = max(0, Int(clamping: number)) }
        self = .at(offset)
    }

    var key: RecordKey? {
        switch self {
        case .after(let key): key
        case .at(let offset): RecordKey([.integer(Int128(offset))])
        }
    }

    func read(_ limit: Int, _ reader: RecordReader) throws(StoreError) -> [ReadRecord] {
        switch self {
        case .after(let key): try reader.page(after: key, limit: limit)
        case .at(let offset): try reader.page(offset: offset, limit: limit).map { ReadRecord.readable($0) }
        }
    }

    mutating func advance(_ records: [ReadRecord]) {
        switch self {
        case .after: self = .after(records.last?.key)
        case .at(let offset): self = .at(offset + records.count)
        }
    }
}
