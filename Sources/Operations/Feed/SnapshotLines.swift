package import ChangeFeed
package import MergeCore
package import MergeService
import MergeWire
import RecordStore
import Synchronization

/// Writes a snapshot line by line, one page of records at a time.
///
/// So it needs the same memory for every size of database.
package struct SnapshotLines: Sendable {
    private let service: MergeService
    private let active: ActiveRules
    private let state: FeedState
    private let resources: [Resource]
    private let viewer: Viewer?
    private let start: SnapshotCursor?
    private let shown: ShownRecords
    /// The records that the client has; nil for none.
    private let former: FormerFilter?

    /// The number of records between two cursors.
    private static let page = 1_000
    /// The number of bytes after which a page ends early.
    private static let mostBytes = 1 << 20
    /// The highest number of runs of a page; a run that failed has sent nothing.
    private static let maximumRuns = 3

    /// - Parameters:
    ///   - state: the feed before the first record is read.
    ///   - viewer: the client; nil for a client that may see everything.
    ///   - shown: stores delivery records.
    ///   - start: the position from which an earlier snapshot continues; nil for a complete one.
    ///   - former: the records that the snapshot omits, because the client has them; nil for none.
    package init(
        service: MergeService, active: ActiveRules, state: FeedState, resources: [Resource],
        viewer: Viewer? = nil, shown: ShownRecords, from start: SnapshotCursor? = nil,
        unless former: FormerFilter? = nil
    ) {
        self.former = former
        self.shown = shown
        self.service = service
        self.active = active
        self.state = state
        self.resources = resources
        self.viewer = viewer
        self.start = start
    }

    /// Writes all lines.
    ///
    /// - Parameters:
    ///   - patience: the time limit of one page.
    ///   - write: sends some lines with a number of records; it may wait for the client.
    package func write(patience: Duration, to write: ([UInt8], Int) async throws -> Void) async throws {
        let estimate =
            former == nil
            ? try await active.estimate(of: resources, for: viewer, in: service, .now.advanced(by: patience)) : nil
        let revision = start?.revision ?? state.revision
        // Identifies the delivered ranges of this snapshot.
        let snapshot = UInt64.random(in: .min ... .max)
        try await write(
            SnapshotText.head(
                feed: state.feed, revision: revision, rules: active.catalog.version, resources: resources.map(\.name),
                records: estimate), 0)
        var count = 0
        for (position, resource) in resources.enumerated() where position >= start?.position ?? 0 {
            let change = former.flatMap { FilterChange(of: resource, from: $0, to: viewer) }
            // The client has all these records.
            if former != nil, change == nil { continue }
            var key: RecordKey?
            if let text = start?.key, position == start?.position { key = try KeyText.decode(text, resource.root) }
            func stretch(of page: Page) -> ShownRecords.Stretch? {
                ShownRecords.Stretch(of: resource, in: snapshot, after: page.start, upTo: page.next, for: viewer)
            }
            var page = try await self.page(
                of: resource, after: key, change, service.pieceSize(of: [resource]), patience: patience)
            while let next = page.next {
                // The next page is read while the client receives the last one.
                let size = page.size
                async let ahead = self.page(of: resource, after: next, change, size, patience: patience)
                count += page.records
                try await send(
                    page, stretch: stretch(of: page), behind: position, revision: revision, patience: patience,
                    to: write)
                page = try await ahead
            }
            count += page.records
            try await send(
                page, stretch: stretch(of: page), behind: position, revision: revision, patience: patience, to: write)
        }
        try await write(SnapshotText.end(records: count), 0)
    }

    /// Stores delivery records of a page, and writes it with its cursor, which has the revision of the whole snapshot.
    private func send(
        _ page: Page, stretch: ShownRecords.Stretch?, behind position: Int, revision: Int, patience: Duration,
        to write: ([UInt8], Int) async throws -> Void
    ) async throws {
        if let journal = active.journal {
            try await shown.note(
                page.read, of: stretch, at: revision, in: journal, until: .now.advanced(by: patience))
        }
        var lines = page.lines
        if let cursor = cursor(behind: position, page.next, revision) { lines += SnapshotText.cursor(cursor.text) }
        if !lines.isEmpty { try await write(lines, page.records) }
    }

    /// Returns the cursor after a page; nil at the end.
    private func cursor(behind position: Int, _ key: RecordKey?, _ revision: Int) -> SnapshotCursor? {
        guard key != nil || position + 1 < resources.count else { return nil }
        return SnapshotCursor(
            feed: state.feed, revision: revision, resources: resources.map(\.name),
            position: key == nil ? position + 1 : position,
            key: key.map { KeyText.encode($0, resources[position].root) }, unless: former?.feed)
    }

    private struct Page: Sendable {
        var lines: [UInt8] = []
        var records = 0
        /// The key after which the page begins; nil before the first record.
        let start: RecordKey?
        var next: RecordKey?
        var read: [ShownRecords.Read] = []
        /// The number of records for the next read.
        var size: PieceSize
    }

    /// - Parameter size: the number of records for the first read.
    private func page(
        of resource: Resource, after key: RecordKey?, _ change: FilterChange?, _ size: PieceSize, patience: Duration
    ) async throws(StoreError) -> Page {
        var runs = 0
        while true {
            do throws(StoreError) {
                return try await run(
                    resource, after: key, change, size: size, until: patience)
            } catch {
                runs += 1
                guard error.kind == .unavailable || error.kind == .busy, runs < Self.maximumRuns else { throw error }
            }
        }
    }

    private func run(
        _ resource: Resource, after key: RecordKey?, _ change: FilterChange?, size: PieceSize, until patience: Duration
    ) async throws(StoreError) -> Page {
        let page = Mutex(Page(start: key, size: size))
        let journal = active.journal
        let next = try await service.page(
            resource, after: key, limit: Self.page, for: change.map(\.both) ?? viewer,
            deadline: .now.advanced(by: patience),
            hashing: shown.hashKey(of: journal), from: size
        ) { records, digests in
            let (lines, count, kept) = Self.lines(of: records, resource, change: change)
            return page.withLock { page in
                if let digests, let journal {
                    for record in kept {
                        page.read.append(
                            ShownRecords.Read(
                                ShownRecord(
                                    journal.codec.key(record.key, resource.root), of: resource,
                                    digests: digests.sections(of: record.key, in: resource))))
                    }
                }
                page.size.note(records: records.count, bytes: lines.count)
                page.records += count
                if page.lines.isEmpty { page.lines = lines } else { page.lines += lines }
                return page.lines.count < Self.mostBytes ? lines.count : nil
            }
        }
        var whole = page.withLock { $0 }
        whole.next = next
        return whole
    }

    /// Returns the lines of some records, their number, and the records that the client then has.
    private static func lines(
        of records: [ReadRecord], _ resource: Resource, change: FilterChange?
    ) -> (lines: [UInt8], count: Int, kept: [ReadRecord]) {
        guard let change else { return (SnapshotText.records(records, of: resource), records.count, records) }
        var (lines, count) = ([UInt8](), 0)
        var kept: [ReadRecord] = []
        for record in records {
            let line = change.line(of: record)
            if line != .left { kept.append(record) }
            if line == .kept { continue }
            count += 1
            lines +=
                line == .left
                ? SnapshotText.gone(record.key, of: resource) : SnapshotText.records([record], of: resource)
        }
        return (lines, count, kept)
    }
}
