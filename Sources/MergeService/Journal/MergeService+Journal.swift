package import MergeCore
package import RecordStore

/// Looking into the journal and taking entries back.
extension ActiveRules {
    fileprivate func kept() throws(Problem) -> Journal {
        guard let journal else {
            throw Problem(
                .noJournal, detail: "The gateway runs with --journal off, so nothing that was merged can be looked up.")
        }
        return journal
    }

}

extension Journal {
    /// - Returns: entries in the order of their numbers, at most the filter's limit.
    /// - Throws: `StoreError`.
    package func entries(
        _ filter: JournalFilter, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [StoredEntry] {
        try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.list(filter)).compactMap { tables.stored($0) }
        }
    }

    /// - Throws: a 404 `Problem` where there is no such entry, or a `StoreError`.
    package func entry(
        _ number: Int, _ deadline: ContinuousClock.Instant
    ) async throws -> StoredEntry {
        let found = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.entry(number)).first.flatMap { tables.stored($0) }
        }
        guard let found, found.entry != nil || found.refused != nil else {
            throw Problem(.noSuchEntry, detail: "The journal has no entry \(number); it may have been pruned.")
        }
        return found
    }

    /// Returns the answer to a push of which only some edits were merged; nil for any other.
    ///
    /// - Throws: `StoreError`.
    package func partialAnswer(
        _ number: Int, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [UInt8]? {
        let rows = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            try session.query(tables.partialAnswer(number))
        }
        return rows.first.flatMap { tables.partialAnswer($0) }
    }
}

extension MergeService {
    /// - Returns: entries in the order of their numbers, at most the filter's limit.
    /// - Throws: a 501 `Problem` where no journal is kept, or a `StoreError`.
    package func entries(
        _ filter: JournalFilter, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> [StoredEntry] {
        try await active.kept().entries(filter, deadline)
    }

    /// - Throws: a 404 `Problem` where there is no such entry.
    package func entry(
        _ number: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> StoredEntry {
        try await active.kept().entry(number, deadline)
    }

    /// Returns the answer to a push of which only some edits were merged; nil for any other.
    package func partialAnswer(
        _ number: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> [UInt8]? {
        try await active.kept().partialAnswer(number, deadline)
    }

    /// Positions of the outcomes of an entry that were taken back before.
    package func undoneOutcomes(
        of number: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> Set<Int> {
        let journal = try active.kept()
        return try await journal.engine.read(deadline: deadline) {
            [tables = journal.tables] session throws(StoreError) in
            Set(try session.query(tables.undone(number)).compactMap { tables.undoneOutcome($0) })
        }
    }

    /// Returns the resource of an entry that can be taken back, and what the entry says.
    ///
    /// - Throws: a `Problem` where the entry cannot be taken back.
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
    /// The columns of a table that a row needs to come back as it was.
    package func columns(of table: TableName) -> [Column] { schema.tables[table]?.restorableColumns ?? [] }
}

extension Journal {
    /// Returns how large the journal is, as far as the database knows without counting.
    package func size(
        _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> (rows: Int, bytes: Int, lastDay: Int)? {
        let (rows, lastDay) = try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
            (try session.query(tables.size), try Self.lastDay(tables, session))
        }
        guard let row = rows.first, case .integer(let count) = row[0], case .integer(let bytes) = row[1] else {
            return nil
        }
        return (Int(clamping: count), Int(clamping: bytes), lastDay)
    }

    /// Returns how many transactions have left changes that wait for a revision, 10,000 at most.
    ///
    /// - Parameter number: rows of `pending` up to it are not looked for.
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

    /// Counts the numbers that were given in the last day: halving finds where it begins, without an index on the time.
    private static func lastDay(_ tables: JournalTables, _ session: any StoreSession) throws(StoreError) -> Int {
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
