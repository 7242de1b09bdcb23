import MergeCore
import MergeService
import RecordStore

/// Reads the rows of scanned sections from the database.
struct SectionRows: Sendable {
    let engine: any RecordEngine
    let hashKey: SipHash.Key

    private static let patience = Duration.seconds(30)
    private var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    // MARK: Digests

    private func statement(
        of unit: ScanUnit, after low: RecordKey?, upTo high: RecordKey?, limit: Int
    ) -> Statement {
        SectionSQL.of(unit.section, engine.dialect).rows(by: unit.key, after: low, upTo: high, limit: limit)
            .hashing(under: hashKey)
    }

    /// Reads the digests of the rows between two keys.
    ///
    /// - Parameter kept: columns whose values are also returned.
    func digests(
        of unit: ScanUnit, after low: RecordKey?, upTo high: RecordKey?, limit: Int, keeping kept: [Int]
    ) async throws(StoreError) -> HashedRows {
        let statement = statement(of: unit, after: low, upTo: high, limit: limit)
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
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
        try await engine.read(deadline: deadline) { session throws(StoreError) in
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

    /// Returns the hashed links of rows, as delivery records contain them.
    func links(
        of unit: ScanUnit, after low: RecordKey?, upTo high: RecordKey?, limit: Int, isReversed: Bool = false
    ) async throws(StoreError) -> [UInt64] {
        let statement = SectionSQL.of(unit.section, engine.dialect)
            .rows(by: unit.key, after: low, upTo: high, limit: limit, isReversed: isReversed).hashing(under: hashKey)
        let rows = try await engine.read(deadline: deadline) { session throws(StoreError) in
            try session.hashes(statement, keeping: unit.link)
        }
        let columns = unit.link.map { unit.section.columns[$0] }
        return rows.digests.indices.compactMap { index in
            if rows.unreadable[index] != nil { return nil }
            return PackedValues.bytes(rows.values[(index * columns.count)..<((index + 1) * columns.count)], of: columns)
                .map { ScanUnit.hash(link: $0, hashKey) }
        }
    }

    // MARK: Values

    /// The maximum keys of one statement.
    private static let mostKeys = 100

    /// Reads the current condition values of existing records.
    func conditions(
        of keys: some Sequence<RecordKey>, in resource: Resource
    ) async throws(StoreError) -> [RecordKey: ConditionTag] {
        guard let root = ScanUnit(resource, resource.root), !root.conditions.isEmpty else { return [:] }
        let all = Array(Set(keys))
        let columns = Array(0..<resource.root.keyCount)
        let sql = SectionSQL.of(resource.root, engine.dialect)
        let statements = stride(from: 0, to: all.count, by: Self.mostKeys).map { start in
            sql.select(
                where: columns, in: all[start..<min(start + Self.mostKeys, all.count)].map(\.parts), locking: false
            ).hashing(under: hashKey)
        }
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
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
        let sql = SectionSQL.of(unit.section, engine.dialect)
        let statements = stride(from: 0, to: keys.count, by: Self.mostKeys).map { start in
            sql.select(
                where: key, in: keys[start..<min(start + Self.mostKeys, keys.count)].map(\.parts), locking: false
            ).hashing(under: hashKey)
        }
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
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

    // MARK: Hints

    func count(_ unit: ScanUnit, atMost limit: Int) async throws(StoreError) -> Int {
        let question = SectionSQL.of(unit.section, engine.dialect).count(atMost: limit)
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
            guard case .integer(let number)? = try session.query(question).first?.first else { return 0 }
            return Int(clamping: number)
        }
    }

    /// Returns the version of the database file, which changes with commits of other connections; nil for a server.
    func fileVersion() async throws(StoreError) -> Int? {
        guard let question = engine.dialect.fileVersion else { return nil }
        // Versions are comparable only on the write connection, whose own commits do not change them.
        return try await engine.withConnection(for: .write, deadline: deadline) {
            connection throws(StoreError) -> Int? in
            try connection.read { session throws(StoreError) in
                guard case .integer(let number)? = try session.query(question).first?.first else { return nil }
                return Int(clamping: number)
            }
        }
    }

    /// Returns the last write to a table and the current time by the database's clock, or nil.
    func lastWrite(to unit: ScanUnit) async throws(StoreError) -> (write: Int?, now: Int)? {
        let dialect = engine.dialect
        let tables = Set([unit.section.table] + unit.section.columns.compactMap { $0.lookup?.table })
        let questions = tables.compactMap { dialect.lastWrite(to: $0) }
        guard questions.count == tables.count else { return nil }
        let rows = try await engine.read(deadline: deadline) { session throws(StoreError) in
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
}
