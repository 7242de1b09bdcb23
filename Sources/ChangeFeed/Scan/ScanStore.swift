import MergeCore
import MergeService
import RecordStore

/// Reads the state of the scan from the journal.
struct ScanStore: Sendable {
    let journal: Journal
    let rows: SectionRows

    private static let patience = Duration.seconds(30)
    private static let mostNotes = 500

    var tables: FeedTables { journal.tables.feed }
    private var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    struct Known: Sendable {
        let id: Int
        /// The latest revision at the start of the last complete pass.
        let scanned: Int
        /// True if all rows have digests.
        let isComplete: Bool
        let ranges: [MarkRange]
    }

    /// Reads the state of a section, and adds a new section to the journal.
    func known(_ unit: ScanUnit) async throws(StoreError) -> Known {
        let question = tables.unit(resource: unit.resource.name, section: unit.section.name)
        let find = { @Sendable [tables] (session: any StoreSession) throws(StoreError) -> Known? in
            guard let row = try session.query(question).first, case .integer(let id) = row[0],
                case .integer(let scanned) = row[1]
            else { return nil }
            return Known(
                id: Int(clamping: id), scanned: Int(clamping: scanned), isComplete: row[2] == .integer(1),
                ranges: try session.query(tables.ranges(of: Int(clamping: id))).compactMap { tables.range($0) })
        }
        if let known = try await journal.engine.read(deadline: deadline, find) { return known }
        return try await journal.engine.write(deadline: deadline) { [tables] session throws(StoreError) in
            _ = try session.execute(tables.addUnit(resource: unit.resource.name, section: unit.section.name))
            guard let known = try find(session) else {
                throw StoreError(.other, "the journal does not keep the section “\(unit.name)”")
            }
            return .commit(known)
        }
    }

    struct Beginning: Sendable {
        let revision: Int
        /// The delivery records up to that revision.
        var notes: NoteCheck
    }

    /// Reads the latest revision and the delivery records in one snapshot.
    ///
    /// Later delivery records belong to the next pass.
    func beginning(of unit: ScanUnit) async throws(StoreError) -> Beginning {
        var beginning = try await journal.engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            let state = try session.query(tables.state(for: "", pendingAfter: 0)).first
            guard let state, case .integer(let last) = state[1] else {
                throw StoreError(.schemaChanged, "the journal “\(tables.schema)” has lost its feed")
            }
            var notes = NoteCheck()
            let rows = try session.query(
                tables.notes(resource: unit.resource.name, section: unit.section.name, limit: Self.mostNotes))
            for row in rows where notes.hasRoom {
                guard case .integer(let number) = row[0], case .integer(let revision) = row[1],
                    case .bytes(let bytes) = row[2]
                else { continue }
                // A damaged delivery record is ignored and deleted.
                notes.add(
                    Int(clamping: number), ShownNote.Content(bytes: bytes) ?? ShownNote.Content(entries: []),
                    revision: Int(clamping: revision))
            }
            return Beginning(revision: Int(clamping: last), notes: notes)
        }
        try await bound(&beginning.notes.spans, of: unit)
        return beginning
    }

    /// The rows to read after a delivered range.
    ///
    /// The pass needs at least one to detect its end.
    private static let mostBehind = 20
    /// The rows to read before a delivered range.
    ///
    /// One of them needs a decodable key.
    private static let mostBeside = 5

    private func bound(_ spans: inout SpanCheck, of unit: ScanUnit) async throws(StoreError) {
        for (index, end) in spans.seal(for: unit.resource).enumerated() where end.low != nil || end.high != nil {
            let (low, high) = (end.low.map { unit.key($0) }, end.high.map { unit.key($0) })
            // A key in an older form.
            if low == .some(nil) || high == .some(nil) {
                spans.drop(index)
                continue
            }
            let before = try await rows.links(
                of: unit, after: nil, upTo: low ?? nil, limit: Self.mostBeside, isReversed: true)
            let behind = try await rows.links(of: unit, after: high ?? nil, upTo: nil, limit: Self.mostBehind)
            spans.bound(index, before: low == nil ? nil : before.first, behind: high == nil ? [] : behind)
        }
    }

    /// Reads the stored row digests of ranges.
    ///
    /// - Throws: `StoreError`, of the kind `unreadable` if they are missing or damaged.
    func marks(of ranges: [MarkRange], in unit: Int) async throws(StoreError) -> [[Mark]] {
        let found = try await journal.engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            var statements = ranges.map { tables.marks(of: $0.id, in: unit) }[...]
            var found: [[Mark]?] = []
            try session.run({ statements.popFirst() }) { rows in
                if case .bytes(let bytes)? = rows.first?.first {
                    found.append(Mark.marks(bytes))
                } else {
                    found.append(nil)
                }
            }
            return found
        }
        return try found.map { marks throws(StoreError) in
            guard let marks else {
                throw StoreError(.unreadable, "marks of the journal “\(tables.schema)” are damaged or missing")
            }
            return marks
        }
    }

    /// Returns the number of waiting delivery records of each section.
    func notes() async throws(StoreError) -> [String: Int] {
        let rows = try await journal.engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.noteCounts)
        }
        var counts: [String: Int] = [:]
        for row in rows {
            guard case .text(let resource) = row[0], case .text(let section) = row[1], case .integer(let count) = row[2]
            else { continue }
            counts[ScanUnit.name(of: resource.string, section.string)] = Int(clamping: count)
        }
        return counts
    }

    func lastNote() async throws(StoreError) -> Int? {
        let rows = try await journal.engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.anyNote)
        }
        guard case .integer(let number)? = rows.first?.first else { return nil }
        return Int(clamping: number)
    }
}
