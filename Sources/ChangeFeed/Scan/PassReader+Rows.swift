import MergeCore
import MergeService
import RecordStore

/// The comparison of single rows.
extension PassReader {
    private struct ComparedRange {
        let range: MarkRange
        let high: RecordKey?
        let rows: [Mark]
        /// True if all rows of the range were read.
        let isWhole: Bool
        let diff: RangeDiff

        /// True if the range must be neither split nor joined.
        var keepsBounds: Bool {
            isWhole && (diff.changes.isEmpty || RangeSplit.least <= rows.count && rows.count <= RangeSplit.most)
        }
    }

    /// Compares ranges row by row, and stores the changes of those whose bounds stay in one transaction.
    ///
    /// - Returns: the number of rows read.
    func compareRows(_ pass: inout SectionPass, upTo end: Int) async throws -> Int {
        let ranges = try await comparedRanges(&pass, upTo: end)
        try await checkLosses(ranges.reduce(0) { $0 + $1.diff.losses }, pass: &pass)
        let read = ranges.reduce(0) { $0 + $1.rows.count }
        let unmoved = ranges.prefix(while: \.keepsBounds)
        if let first = ranges.first, unmoved.isEmpty {
            try await rearrange(first, pass: &pass)
            return read
        }
        var writes = ScanWrites()
        for compared in unmoved where !compared.diff.changes.isEmpty {
            let range = MarkRange(
                id: compared.range.id, next: compared.range.next, high: compared.range.high, marks: compared.rows)
            writes.ranges.append((range, compared.rows))
        }
        if !writes.ranges.isEmpty {
            writes.changes = try await changes(unmoved.flatMap(\.diff.changes), &pass)
            pass.ranges.differing += writes.ranges.count
            try await store(writes, &pass)
        }
        let changed = Dictionary(writes.ranges.map { ($0.range.id, $0.range) }) { _, last in last }
        for compared in unmoved {
            if let range = changed[compared.range.id] { pass.replace(1, by: [range]) }
            try await countDeliveries(compared.rows, &pass)
            pass.advance(to: pass.index + 1, after: compared.high)
        }
        return read
    }

    private func comparedRanges(_ pass: inout SectionPass, upTo end: Int) async throws -> [ComparedRange] {
        let ranges = Array(pass.section.ranges[pass.index..<end])
        let unit = pass.unit
        let highs = try ranges.map { range throws(StoreError) in try unit.decodedKey(range.high) }
        var low = pass.low
        var stretches: [SectionRows.Stretch] = []
        for high in highs {
            stretches.append(SectionRows.Stretch(low: low, high: high, limit: Self.piece))
            low = high
        }
        let rows = try await marks(in: stretches, &pass)
        let former = try await journal.marks(of: ranges, in: pass.section.id)
        return ranges.indices.map { index in
            let isWhole = rows[index].count < Self.piece
            return ComparedRange(
                range: ranges[index], high: highs[index], rows: rows[index], isWhole: isWhole,
                diff: RangeDiff(former[index], with: rows[index], isWhole: isWhole))
        }
    }

    /// Reads row digests, and reports the rows that have none.
    private func marks(in stretches: [SectionRows.Stretch], _ pass: inout SectionPass) async throws -> [[Mark]] {
        let unit = pass.unit
        let read = try await rows.marks(of: unit, in: stretches)
        if read.omitted.count > 0 {
            pass.omitted.add(read.omitted)
            unreadable.note(pass.omitted, of: unit.resource, unit.section)
        }
        return read.stretches
    }

    /// Compares rows with delivery records.
    private func countDeliveries(_ rows: [Mark], _ pass: inout SectionPass) async throws {
        let (unit, columns) = (pass.unit, pass.filteredColumns)
        // Row digests do not contain the columns that filters test.
        let keys = columns.isEmpty ? [] : rows.compactMap { unit.key($0.key) }
        pass.countDeliveries(
            rows, naming: names, filtered: try await self.rows.values(of: columns, in: keys, of: unit))
    }

    private func changes(
        _ changes: [RangeDiff.Change], _ pass: inout SectionPass
    ) async throws -> [ForeignChange] {
        pass.differing += changes.count
        return try await recorder.changes(changes, in: pass.unit, reportedSince: pass.section.scanned)
            .flatMap(\.changes)
    }

    /// Delays the report if the section has lost most of its rows.
    ///
    /// - Throws: `EmptiedSection` during the delay, or `StoreError`.
    private func checkLosses(_ losses: Int, pass: inout SectionPass) async throws {
        guard losses > 0, pass.losses.isCountDue(adding: losses) else { return }
        let known = pass.section.ranges.reduce(0) { $0 + $1.count }
        let left = try await rows.count(pass.unit, atMost: known)
        guard EmptiedSection.hasLostMost(of: known, left: left) else { return }
        if let earlier = pass.earlierLoss, earlier.isFinal(left: left) { return }
        throw EmptiedSection(
            pass.unit.name, of: known, left: left, until: .now.advanced(by: emptiedPause),
            waits: (pass.earlierLoss?.waits ?? 0) + 1)
    }

    // MARK: Ranges with other bounds

    /// Stores a range that is too large, too small, or not completely read.
    private func rearrange(_ compared: ComparedRange, pass: inout SectionPass) async throws {
        var writes = ScanWrites()
        writes.changes = try await changes(compared.diff.changes, &pass)
        pass.ranges.differing += 1
        if compared.isWhole, compared.rows.count < RangeSplit.least, pass.remaining > 1 {
            return try await join(compared.rows, storing: writes, &pass)
        }
        var section = pass.section
        writes.ranges = RangeSplit.ranges(
            in: compared.range, compared.rows, left: compared.isWhole ? nil : compared.diff.left
        ) { section.newID() }
        pass.section = section
        try await store(writes, &pass)
        pass.replace(1, by: writes.ranges.map(\.range))
        try await countDeliveries(compared.rows, &pass)
        // The rest of the range is next.
        let done = writes.ranges.count - (compared.isWhole ? 0 : 1)
        let next = pass.index + done
        pass.advance(to: next, after: try pass.unit.decodedKey(pass.section.ranges[next - 1].high))
    }

    /// Joins a small range with the next, and the pass continues with both.
    private func join(_ rows: [Mark], storing changes: ScanWrites, _ pass: inout SectionPass) async throws {
        var writes = changes
        let (range, next) = (pass.section.ranges[pass.index], pass.section.ranges[pass.index + 1])
        let marks = rows + (try await journal.marks(of: [next], in: pass.section.id)).flatMap { $0 }
        let joined = MarkRange(id: range.id, next: next.next, high: next.high, marks: marks)
        writes.ranges = [(joined, marks)]
        writes.forgotten = [next.id]
        try await store(writes, &pass)
        pass.replace(2, by: [joined])
    }

    // MARK: The first pass

    /// Stores digests of rows that have none, without reporting them.
    func storeFirstDigests(_ pass: inout SectionPass) async throws -> Int {
        let limit = 5 * RangeSplit.target
        let rows = try await marks(in: [.init(low: pass.low, high: nil, limit: limit)], &pass).flatMap { $0 }
        let isLast = rows.count < limit
        var writes = ScanWrites()
        var rest = rows[...]
        repeat {
            let marks = Array(rest.prefix(RangeSplit.target))
            rest = rest.dropFirst(marks.count)
            let id = pass.section.advanceTail()
            let isEnd = isLast && rest.isEmpty
            let range = MarkRange(
                id: id, next: isEnd ? nil : pass.section.tailID, high: isEnd ? nil : marks.last?.key, marks: marks)
            writes.ranges.append((range, marks))
        } while !rest.isEmpty
        if isLast { writes.end = ([], pass.revision) }
        try await store(writes, &pass)
        pass.section.ranges += writes.ranges.map(\.range)
        if isLast { pass.section.isComplete = true }
        try await countDeliveries(rows, &pass)
        pass.advance(to: pass.section.ranges.count, after: try pass.unit.decodedKey(rows.last?.key))
        return rows.count
    }
}
