package import MergeCore
package import RecordStore

extension ActiveRules {
    func kept() throws(Problem) -> Journal {
        guard let journal else {
            throw Problem(
                .noJournal, detail: "The gateway runs with --journal off, so it has no journal.")
        }
        return journal
    }

}

extension Journal {
    /// Reads entries in the order of their numbers, at most the filter's limit.
    package func entries(
        _ filter: JournalFilter, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [StoredEntry] {
        try await engine.read(deadline: deadline) { [tables, codec] session throws(StoreError) in
            guard filter.group != nil || filter.onlyConflicts else {
                return try session.query(tables.list(filter)).compactMap { tables.stored($0) }
            }
            // No index contains the groups of an entry, so the entries are read in pieces.
            var (found, rest): ([StoredEntry], JournalFilter) = ([], filter)
            rest.limit = Self.piece
            while true {
                let read = try session.query(tables.list(rest)).compactMap { tables.stored($0) }
                found += read.filter { codec.matches($0, filter) }
                guard found.count < filter.limit, read.count == Self.piece, let last = read.last else {
                    return Array(found.prefix(filter.limit))
                }
                rest.after = last.number
            }
        }
    }

    private static let piece = 500

    /// Reads the numbers of the oldest and the newest entry; nil if the journal is empty.
    package func numbers(_ deadline: ContinuousClock.Instant) async throws(StoreError) -> ClosedRange<Int>? {
        try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            guard let row = try session.query(tables.bounds).first, case .integer(let first) = row[0],
                case .integer(let last) = row[1]
            else { return nil }
            return Int(clamping: first)...Int(clamping: last)
        }
    }

    /// Reads one entry.
    ///
    /// - Throws: a 404 `Problem` if the entry does not exist, or a `StoreError`.
    package func entry(
        _ number: Int, _ deadline: ContinuousClock.Instant
    ) async throws -> StoredEntry {
        let found = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.entry(number)).first.flatMap { tables.stored($0) }
        }
        guard let found, found.entry != nil || found.refused != nil else {
            throw Problem(.noSuchEntry, detail: "The journal has no entry \(number). It may have been pruned.")
        }
        return found
    }

    /// Keeps a refused push that has no key and no record.
    package func keep(
        _ refused: RefusedBody, of sender: Sender, request: String?, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        let draft = JournalDraft(
            sender: sender, key: nil, name: nil, answer: nil, refused: refused, entries: [],
            bareEntry: request.map(codec.bareEntry))
        try await engine.write(deadline: deadline) { [tables] session throws(StoreError) in
            try JournalWriter.keepRefused(draft, in: tables, session)
            return .commit(())
        }
    }

    /// Reads the answer to a push that was merged in part; nil for any other push.
    package func partialAnswer(
        _ number: Int, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [UInt8]? {
        let rows = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.partialAnswer(number))
        }
        return rows.first.flatMap { tables.partialAnswer($0) }
    }
}

extension Journal {
    /// Settles a refused push without a resend.
    ///
    /// - Throws: a `StoreError`; of the kind `takenEffect` if it was settled before.
    package func drop(_ number: Int, by who: String, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await engine.write(deadline: deadline) { [tables] session throws(StoreError) in
            do throws(StoreError) {
                _ = try session.execute(tables.drop(number, by: who))
            } catch {
                guard error.isCollision else { throw error }
                throw StoreError(.takenEffect, "it was settled before", code: error.code)
            }
            return .commit(())
        }
    }

    /// Returns the number of another merge with the key of a refused push; nil if there is none.
    package func otherMerge(
        of stored: StoredEntry, name: [UInt8], until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Int? {
        try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            for statement in tables.otherMerges(of: stored, name: name) {
                if case .integer(let number)? = try session.query(statement).first?.first {
                    return Int(clamping: number)
                }
            }
            return nil
        }
    }
}

extension MergeService {
    /// Settles a refused push without a resend.
    package func drop(
        _ number: Int, by who: String, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws {
        try await active.kept().drop(number, by: who, until: deadline)
    }

    /// Returns the number of another merge with the key of a refused push; nil if there is none.
    package func otherMerge(
        of stored: StoredEntry, name: [UInt8], active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> Int? {
        try await active.kept().otherMerge(of: stored, name: name, until: deadline)
    }

    /// Reads entries in the order of their numbers, at most the filter's limit.
    ///
    /// - Throws: a 501 `Problem` if the journal is off, or a `StoreError`.
    package func entries(
        _ filter: JournalFilter, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> [StoredEntry] {
        try await active.kept().entries(filter, deadline)
    }

    /// Reads the numbers of the oldest and the newest entry; nil if the journal is empty.
    package func entryNumbers(
        active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> ClosedRange<Int>? {
        try await active.kept().numbers(deadline)
    }

    /// Reads one entry.
    ///
    /// - Throws: a 404 `Problem` if the entry does not exist.
    package func entry(
        _ number: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> StoredEntry {
        try await active.kept().entry(number, deadline)
    }

    /// Reads the answer to a push that was merged in part; nil for any other push.
    package func partialAnswer(
        _ number: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> [UInt8]? {
        try await active.kept().partialAnswer(number, deadline)
    }

    /// Reads the positions of the outcomes of an entry that were undone before.
    package func undoneOutcomes(
        of number: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> Set<Int> {
        let journal = try active.kept()
        return try await journal.engine.read(deadline: deadline) {
            [tables = journal.tables] session throws(StoreError) in
            Set(try session.query(tables.undone(number)).compactMap { tables.undoneOutcome($0) })
        }
    }

    /// Returns the resource and the content of an entry that can be undone.
    ///
    /// - Throws: a `Problem` if the entry cannot be undone.
    package func undoable(
        _ stored: StoredEntry, active: ActiveRules
    ) throws(Problem) -> (resource: Resource, content: [UInt8]) {
        guard let entry = stored.entry, entry.status == "merged" else {
            throw Problem(
                .nothingToUndo, detail: "The push of this entry was refused, so it wrote nothing.", retry: .never)
        }
        guard let resource = active.catalog[entry.resource] else {
            throw Problem(
                .notUndoable, detail: "The rules have no resource “\(entry.resource)” any more.", retry: .never)
        }
        return (resource, entry.body)
    }
}

extension ActiveRules {
    /// Returns the columns that a complete restoration of a row needs.
    package func columns(of table: TableName) -> [Column] { schema.tables[table]?.restorableColumns ?? [] }
}

extension Journal {
    /// Returns the size of the journal from the database's statistics.
    package func size(
        _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> (rows: Int, bytes: Int, lastDay: Int)? {
        let (rows, lastDay) = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            (try session.query(tables.size), try Self.lastDay(tables, in: session))
        }
        guard let row = rows.first, case .integer(let count) = row[0], case .integer(let bytes) = row[1] else {
            return nil
        }
        return (Int(clamping: count), Int(clamping: bytes), lastDay)
    }

    /// The state of the journal's entries, for metrics.
    package struct EntryCounts: Sendable, Hashable {
        /// The age of the oldest entry in seconds; nil if the journal is empty.
        package let oldestSeconds: Int?
        /// The refused pushes of the last day that were not sent again, among the newest entries.
        package let refused: Int
    }

    /// The newest entries among which refused pushes are counted.
    private static let counted = 100_000

    /// Reads the age of the oldest entry and counts the refused pushes of the last day.
    package func entryCounts(_ deadline: ContinuousClock.Instant) async throws(StoreError) -> EntryCounts {
        try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            var age: Int?
            if let row = try session.query(tables.oldest).first, case .dateTime(let oldest) = row[0],
                case .dateTime(let now) = row[1]
            {
                age = max(0, (now.microsecondsSince1970 - oldest.microsecondsSince1970) / 1_000_000)
            }
            guard case .integer(let last)? = try session.query(tables.bounds).first?.last else {
                return EntryCounts(oldestSeconds: age, refused: 0)
            }
            let newest = min(try Self.lastDay(tables, in: session), Self.counted)
            let found = try session.query(tables.refused(after: Int(clamping: last) - newest)).first?.first
            guard case .integer(let count)? = found else { return EntryCounts(oldestSeconds: age, refused: 0) }
            return EntryCounts(oldestSeconds: age, refused: Int(clamping: count))
        }
    }

    /// Counts the transactions whose changes wait for a revision, 10,000 at most.
    ///
    /// - Parameter number: rows of `pending` up to this number are skipped.
    package func countPending(
        after number: Int, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Int {
        try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            guard
                case .integer(let count)? = try session.query(tables.feed.pendingCount(after: number, atMost: 10_000))
                    .first?.first
            else { return 0 }
            return Int(clamping: count)
        }
    }

    /// Counts the numbers of the last day; a binary search finds the first, without an index on the time.
    private static func lastDay(_ tables: JournalTables, in session: any StoreSession) throws(StoreError) -> Int {
        guard let bounds = try session.query(tables.bounds).first, case .integer(let first) = bounds[0],
            case .integer(let last) = bounds[1]
        else { return 0 }
        var low = Int(clamping: first)
        var high = Int(clamping: last) + 1
        let end = high
        while low < high {
            let middle = low + (high - low) / 2
            if try session.query(tables.isOfLastDay(from: middle)).first?.first == .integer(1) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return end - low
    }
}
