import MergeCore
import MergeService
import RecordStore

/// Reads the rows of a section step by step, compares them with the stored row digests, and stores the differences.
struct PassReader {
    let rows: SectionRows
    let journal: ScanStore
    let recorder: ForeignChangeRecorder
    let unreadable: UnreadableRecords
    let lease: ScanLease
    /// The row log that is read at the same time, or nil.
    var log: LogWatch?
    /// The delay before the scan reports that a section has lost most of its rows.
    let emptiedPause: Duration

    init(
        service: MergeService, feed: ChangeFeed, journal: Journal, lease: ScanLease, log: LogWatch?,
        emptiedPause: Duration
    ) {
        self.log = log
        rows = SectionRows(engine: service.engine, hashKey: journal.hashKey)
        self.journal = ScanStore(journal: journal, rows: rows)
        recorder = ForeignChangeRecorder(engine: service.engine, rows: rows, feed: feed, journal: journal)
        unreadable = service.unreadable
        self.lease = lease
        self.emptiedPause = emptiedPause
    }

    /// The maximum rows that are read with values.
    static let piece = 1_000
    /// Additional rows to read, so that a few new rows do not hide the end.
    private static let spare = 100

    var names: RecordNames { RecordNames(journal: journal.journal) }

    /// Runs one step of a pass, and ends the pass after the last one.
    ///
    /// - Returns: the number of rows read.
    /// - Throws: `EmptiedSection` if the section has lost most of its rows; `LeaseLost`; `StoreError`.
    func step(_ pass: inout SectionPass) async throws -> Int {
        let rows = pass.hasDigests ? try await compare(&pass) : try await storeFirstDigests(&pass)
        if pass.missed.count >= Self.piece {
            try await store(ScanWrites(changes: pass.missed), &pass)
            pass.missed = []
        }
        if pass.isDone, !pass.isRest { try await end(&pass) }
        return rows
    }

    /// Stores changes and row digests in one transaction.
    func store(_ writes: ScanWrites, _ pass: inout SectionPass) async throws {
        if !writes.changes.isEmpty {
            let desk = ScanDesk(journal: journal.journal, gateway: lease.holder)
            try await log?.catchUp { try await desk.renew(lease) }
        }
        let found = try await recorder.record(
            writes.changes, storing: writes.statements(journal.tables, unit: pass.section.id), under: lease)
        pass.found += found
        if !writes.ranges.isEmpty || !writes.forgotten.isEmpty { pass.foundInRows += found }
    }

    // MARK: Groups of ranges

    /// Compares the sums of some ranges, then the rows of ranges with another sum.
    private func compare(_ pass: inout SectionPass) async throws -> Int {
        let group = pass.nextGroup()
        pass.ranges.all += group.end - pass.index
        let following = pass.section.ranges.count - group.end
        if pass.section.isMostlyChanged { return try await compareRows(&pass, until: following) }
        let high = try pass.unit.decodedKey(pass.section.ranges[group.end - 1].high)
        let limit = group.rows + Self.spare
        let rows = try await self.rows.digests(
            of: pass.unit, after: pass.low, upTo: high, limit: limit, keeping: pass.deliveryColumns)
        if rows.digests.count == group.rows, rows.digests.reduce(0, &+) == group.digest {
            pass.countDeliveries(0..<group.rows, of: rows, naming: names)
            pass.advance(to: group.end, after: high)
            return group.rows
        }
        let match = RangeMatch(
            pass.section.ranges[pass.index..<group.end], with: rows.digests, isWhole: rows.digests.count < limit)
        if match.before > 0 {
            let same = pass.index + match.before
            pass.countDeliveries(0..<match.rows.before, of: rows, naming: names)
            pass.advance(to: same, after: try pass.unit.decodedKey(pass.section.ranges[same - 1].high))
        }
        let first = pass.section.ranges[group.end - match.behind..<group.end].first?.id
        var read = rows.digests.count
        read += try await compareRows(&pass, until: following + match.behind)
        guard let first else { return read }
        guard pass.section.ranges[pass.index].id == first else {
            // The range was joined with the previous one.
            return try await read + compareRows(&pass, until: following)
        }
        pass.countDeliveries(rows.digests.count - match.rows.behind..<rows.digests.count, of: rows, naming: names)
        pass.advance(to: pass.section.ranges.count - following, after: high)
        return read
    }

    /// Compares the rows of ranges until `remaining` ranges are left.
    private func compareRows(_ pass: inout SectionPass, until remaining: Int) async throws -> Int {
        var read = 0
        while !pass.isDone, pass.remaining > remaining {
            read += try await compareRows(&pass, upTo: pass.section.ranges.count - remaining)
        }
        return read
    }

    // MARK: The end

    /// Stores the completion of a pass, and the records that differ from their delivery records.
    private func end(_ pass: inout SectionPass) async throws {
        let unit = pass.unit
        if pass.omitted.count == 0 { unreadable.noteComplete(unit.resource, unit.section) }
        let writes = ScanWrites(
            changes: pass.outdated + pass.missed, end: (pass.deliveries.numbers, pass.revision))
        try await store(writes, &pass)
        pass.section.scanned = pass.revision
        pass.section.isMostlyChanged = pass.ranges.differing * 2 > pass.ranges.all
    }
}
