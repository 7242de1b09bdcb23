import MergeCore
import MergeService
import RecordStore

/// The database and journal operations of a scan.
struct ScanHand: Sendable {
    let service: MergeService
    let feed: ChangeFeed
    let journal: Journal

    private static let patience = Duration.seconds(30)
    /// The maximum changes in a row of `pending`.
    private static let mostChanges = 500
    private static let mostNotes = 500

    private var tables: FeedTables { journal.tables.feed }
    var hashKey: SipHash.Key { journal.hashKey }
    private var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    /// Another gateway has the lease, so the state in memory is void.
    struct LeaseLost: Error {}

    // MARK: Reading rows

    private func statement(
        of unit: ScanUnit, after low: RecordKey?, upTo high: RecordKey?, limit: Int
    ) -> Statement {
        SectionSQL.of(unit.section, service.engine.dialect).rows(by: unit.key, after: low, upTo: high, limit: limit)
            .hashing(under: hashKey)
    }

    /// Reads the digests of the rows between two keys.
    ///
    /// - Parameter kept: columns whose values are also returned.
    func digests(
        of unit: ScanUnit, after low: RecordKey?, upTo high: RecordKey?, limit: Int, keeping kept: [Int]
    ) async throws(StoreError) -> HashedRows {
        let statement = statement(of: unit, after: low, upTo: high, limit: limit)
        return try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            try session.hashes(statement, keeping: kept)
        }
    }

    /// A key range to read.
    struct Stretch: Sendable {
        /// nil to begin with the first row.
        var low: RecordKey?
        /// The last possible key; nil for no end.
        var high: RecordKey?
        var limit: Int
    }

    /// Row digests, and the rows that have none because a value cannot be decoded.
    struct ReadMarks: Sendable {
        /// In the order of keys.
        var stretches: [[Mark]] = []
        var omitted = OmittedRows()
    }

    /// Reads the row digests of key ranges.
    ///
    /// - Throws: `StoreError`, of the kind `unreadable` if a key cannot be packed.
    func marks(of unit: ScanUnit, in stretches: [Stretch]) async throws(StoreError) -> ReadMarks {
        try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            var read = ReadMarks()
            for stretch in stretches {
                let low = stretch.low.flatMap { unit.packed($0) }
                let rows = try session.readableRows(
                    keeping: unit.kept, key: unit.keyPlaces, after: stretch.low, limit: stretch.limit
                ) { statement(of: unit, after: $0, upTo: stretch.high, limit: $1) }
                // Rows without a key are found by the parent. If that cannot be decoded, the row is part of no record.
                if unit.section.keyCount > 0 { read.omitted.add(rows.omitted) }
                let width = unit.kept.count
                var marks: [Mark] = []
                marks.reserveCapacity(rows.digests.count)
                for (index, digest) in rows.digests.enumerated() {
                    let values = rows.values[(index * width)..<((index + 1) * width)]
                    guard let mark = unit.mark(values, digest: digest) else {
                        throw StoreError(.unreadable, "a key in “\(unit.name)” is of a kind that no scan can keep")
                    }
                    guard mark.key != low else {
                        throw StoreError(.unreadable, StoreError.unordered(unit.section.table).message)
                    }
                    marks.append(mark)
                }
                read.stretches.append(marks)
            }
            return read
        }
    }

    func count(_ unit: ScanUnit, atMost limit: Int) async throws(StoreError) -> Int {
        let question = SectionSQL.of(unit.section, service.engine.dialect).count(atMost: limit)
        return try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            guard case .integer(let number)? = try session.query(question).first?.first else { return 0 }
            return Int(clamping: number)
        }
    }

    /// Returns the version of the database file, which changes with commits of other connections; nil for a server.
    func fileVersion() async throws(StoreError) -> Int? {
        guard let question = service.engine.dialect.fileVersion else { return nil }
        // Versions are comparable only on the write connection, whose own commits do not change them.
        return try await service.engine.withConnection(for: .write, deadline: deadline) {
            connection throws(StoreError) -> Int? in
            try connection.read { session throws(StoreError) in
                guard case .integer(let number)? = try session.query(question).first?.first else { return nil }
                return Int(clamping: number)
            }
        }
    }

    /// Returns the last write to a table and the current time by the database's clock, or nil.
    func lastWrite(to unit: ScanUnit) async throws(StoreError) -> (write: Int?, now: Int)? {
        let dialect = service.engine.dialect
        let tables = Set([unit.section.table] + unit.section.columns.compactMap { $0.lookup?.table })
        let questions = tables.compactMap { dialect.lastWrite(to: $0) }
        guard questions.count == tables.count else { return nil }
        let rows = try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            var rows: [[Value]] = []
            for question in questions { rows.append(try session.query(question).first ?? []) }
            return rows
        }
        var last: Int? = 0
        var earliest: Int?
        for row in rows {
            guard row.count == 2, case .integer(let now) = row[1] else { return nil }
            // Without a known write of each table, the section may have changed.
            if case .integer(let write) = row[0] {
                last = last.map { max($0, Int(clamping: write)) }
            } else {
                last = nil
            }
            earliest = min(earliest ?? Int(clamping: now), Int(clamping: now))
        }
        return earliest.map { (last, $0) }
    }

    // MARK: Records

    /// Returns the records of each changed row, before and after the change.
    func records(of changes: [RangeDiff.Change], in unit: ScanUnit) async throws(StoreError) -> [[RecordKey]] {
        var links: [[Value]: [RecordKey]] = [:]
        var sought: [[Value]] = []
        for mark in changes.flatMap({ [$0.former, $0.now] }) {
            guard let mark, let values = unit.link(of: mark), links[values] == nil else { continue }
            links[values] = []
            if values.contains(.null) { continue }
            if let key = unit.view.key(values) {
                links[values] = [key]
            } else if !unit.isRoot {
                sought.append(values)
            }
        }
        if !sought.isEmpty {
            let found = try await roots(linkedBy: sought, in: unit)
            for (values, keys) in zip(sought, found) { links[values] = keys }
        }
        return changes.map { change in
            var records: [RecordKey] = []
            for mark in [change.former, change.now] {
                guard let mark, let values = unit.link(of: mark) else { continue }
                for key in links[values] ?? [] where !records.contains(key) { records.append(key) }
            }
            return records
        }
    }

    /// Finds the records of rows that are not linked by the key.
    private func roots(
        linkedBy links: [[Value]], in unit: ScanUnit
    ) async throws(StoreError) -> [[RecordKey]] {
        let statements = links.map {
            unit.view.preselection(ofRecordsLinkedBy: $0, service.engine.dialect, locking: false)
        }
        return try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            var found: [[RecordKey]] = []
            var next = statements[...]
            try session.run({ next.popFirst() }) { rows in
                found.append(unit.view.records(in: rows, linkedBy: links[found.count]))
            }
            return found
        }
    }

    private static let mostKeys = 100

    /// Reads the current condition values of existing records.
    func conditions(
        of keys: some Sequence<RecordKey>, in resource: Resource
    ) async throws(StoreError) -> [RecordKey: ConditionTag] {
        guard let root = ScanUnit(resource, resource.root), !root.conditions.isEmpty else { return [:] }
        let all = Array(Set(keys))
        let columns = Array(0..<resource.root.keyCount)
        let sql = SectionSQL.of(resource.root, service.engine.dialect)
        let statements = stride(from: 0, to: all.count, by: Self.mostKeys).map { start in
            sql.select(
                where: columns, in: all[start..<min(start + Self.mostKeys, all.count)].map(\.parts), locking: false
            ).hashing(under: hashKey)
        }
        return try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            var found: [RecordKey: ConditionTag] = [:]
            for statement in statements {
                let rows = try session.hashes(statement, keeping: root.kept)
                for (index, digest) in rows.digests.enumerated() where rows.unreadable[index] == nil {
                    let values = rows.values[(index * root.kept.count)..<((index + 1) * root.kept.count)]
                    guard let mark = root.mark(values, digest: digest), let key = root.key(mark.key) else { continue }
                    found[key] = mark.tag
                }
            }
            return found
        }
    }

    /// Reads some columns of existing root rows, by key; rows with a value that cannot be decoded are omitted.
    func values(
        of columns: Set<Int>, in keys: [RecordKey], of unit: ScanUnit
    ) async throws(StoreError) -> [RecordKey: [Int: Value]] {
        if columns.isEmpty || keys.isEmpty { return [:] }
        let key = Array(0..<unit.section.keyCount)
        let kept = Set(key).union(columns).sorted()
        let sql = SectionSQL.of(unit.section, service.engine.dialect)
        let statements = stride(from: 0, to: keys.count, by: Self.mostKeys).map { start in
            sql.select(
                where: key, in: keys[start..<min(start + Self.mostKeys, keys.count)].map(\.parts), locking: false
            ).hashing(under: hashKey)
        }
        return try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            var found: [RecordKey: [Int: Value]] = [:]
            for statement in statements {
                let rows = try session.hashes(statement, keeping: kept)
                for index in rows.digests.indices where rows.unreadable[index] == nil {
                    let values = rows.values[(index * kept.count)..<((index + 1) * kept.count)]
                    let row = Dictionary(zip(kept, values)) { first, _ in first }
                    found[RecordKey(key.compactMap { row[$0] })] = row
                }
            }
            return found
        }
    }

    // MARK: The journal

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
            let before = try await links(
                of: unit, after: nil, upTo: low ?? nil, limit: Self.mostBeside, isReversed: true)
            let behind = try await links(of: unit, after: high ?? nil, upTo: nil, limit: Self.mostBehind)
            spans.bound(index, before: low == nil ? nil : before.first, behind: high == nil ? [] : behind)
        }
    }

    private func links(
        of unit: ScanUnit, after low: RecordKey?, upTo high: RecordKey?, limit: Int, isReversed: Bool = false
    ) async throws(StoreError) -> [UInt64] {
        let statement = SectionSQL.of(unit.section, service.engine.dialect)
            .rows(by: unit.key, after: low, upTo: high, limit: limit, isReversed: isReversed).hashing(under: hashKey)
        let rows = try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            try session.hashes(statement, keeping: unit.link)
        }
        let columns = unit.link.map { unit.section.columns[$0] }
        return rows.digests.indices.compactMap { index in
            if rows.unreadable[index] != nil { return nil }
            return PackedValues.bytes(rows.values[(index * columns.count)..<((index + 1) * columns.count)], of: columns)
                .map { ScanUnit.hash(link: $0, hashKey) }
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

    func lastNote() async throws(StoreError) -> Int? {
        let rows = try await journal.engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.anyNote)
        }
        guard case .integer(let number)? = rows.first?.first else { return nil }
        return Int(clamping: number)
    }

    /// A record that differs from the version that clients have.
    struct FoundChange: Sendable {
        let name: RecordName
        /// If the record has a later revision than this, that revision reports the change.
        let toldSince: Int
        /// The condition values of the rows, former ones first.
        var tags: [ConditionTag] = []
        /// Delivered condition values, which row digests may never have contained; nil without conditions.
        var shown: ConditionTag?

        /// True if the result of access conditions may change.
        var changesConditions: Bool { Set(tags).count > 1 || shown != nil }

        /// Returns true if a later revision reports this change to every client that has not seen it.
        func isTold(by history: ConditionHistory?) -> Bool {
            if let shown {
                // Without a history of conditions, the change is reported to every client.
                return history?.tuples(since: toldSince)?.contains(shown.bytes) ?? true
            }
            return !changesConditions || history?.covers(tags.map(\.bytes), since: toldSince) == true
        }

        /// Returns the condition values since then, current ones last.
        func values(behind history: ConditionHistory?) -> [ConditionTag] {
            shown.map { [$0] + (history?.latest.map { [ConditionTag($0)] } ?? []) } ?? tags
        }
    }

    /// The writes of one transaction.
    struct Filing: Sendable {
        var ranges: [(range: MarkRange, marks: [Mark])] = []
        var forgotten: [Int] = []
        var changes: [FoundChange] = []
        /// The end of a pass: compared delivery records, and the revision at its start.
        var end: (notes: [Int], revision: Int)?
    }

    /// Stores row digests and their changes in one transaction.
    ///
    /// - Returns: the number of new changes.
    /// - Throws: `StoreError`, or `LeaseLost` if nothing was written.
    func file(_ filing: Filing, of unit: Int, under lease: ScanLease) async throws -> Int {
        // Sequences committed pushes first, so that their rows are not reported as foreign changes.
        if !filing.changes.isEmpty { _ = try await feed.catchUp() }
        let filed: Int? = try await journal.engine.write(deadline: deadline) {
            [tables] session throws(StoreError) -> Ending<Int?> in
            let state = try session.query(tables.scanState(locking: true)).first.flatMap { tables.scanState($0) }
            guard state?.lease == lease else { return .rollback(nil) }
            let count = try Self.file(filing.changes, in: tables, session)
            var statements: [Statement] = []
            for (range, marks) in filing.ranges { statements += tables.keep(range, marks, in: unit) }
            for range in filing.forgotten { statements.append(tables.forgetRange(range, in: unit)) }
            if let end = filing.end {
                statements += tables.forgetNotes(end.notes)
                statements.append(tables.endPass(over: unit, from: end.revision))
            }
            var next = statements[...]
            try session.run({ next.popFirst() }) { _ in }
            return .commit(count)
        }
        guard let filed else { throw LeaseLost() }
        return filed
    }

    private static func file(
        _ changes: [FoundChange], in tables: FeedTables,
        _ session: any StoreSession
    ) throws(StoreError) -> Int {
        if changes.isEmpty { return 0 }
        var known: [RecordName: Int] = [:]
        var questions = tables.revisions(of: Array(Set(changes.map(\.name))))[...]
        try session.run({ questions.popFirst() }) { rows in
            for row in rows {
                guard case .text(let resource) = row[0], case .text(let record) = row[1],
                    case .integer(let revision) = row[2]
                else { continue }
                known[RecordName(resource: resource.string, record: record.string)] = Int(clamping: revision)
            }
        }
        let moved = Array(Set(changes.filter(\.changesConditions).map(\.name)).intersection(known.keys))
        let histories = try Sequencing.histories(of: moved, in: tables, session)
        var names: [RecordName] = []
        var tags: [RecordName: [ConditionTag]] = [:]
        for change in changes {
            // Clients that have read the later revision have delivery records, which the pass compares. Other clients
            // will read that revision, if its history contains the condition values.
            let history = histories[change.name]
            if let revision = known[change.name], revision > change.toldSince, change.isTold(by: history) { continue }
            if tags[change.name] == nil { names.append(change.name) }
            tags[change.name, default: []] += change.values(behind: history)
        }
        if names.isEmpty { return 0 }
        if tables.dialect.sequencesWithMerge {
            let changes = names.map { name in
                CommittedChange(name: name, push: nil, steps: ConditionStep.steps(through: tags[name] ?? []))
            }
            try Sequencing.give(changes, in: tables, session)
            return names.count
        }
        var rest = names[...]
        while !rest.isEmpty {
            let run = Array(rest.prefix(Self.mostChanges))
            rest = rest.dropFirst(run.count)
            _ = try session.execute(
                tables.insertForeign(run, tags: ConditionTags(tags: run.map { tags[$0] ?? [] })))
        }
        return names.count
    }
}
