import MergeCore
package import RecordStore

/// Deletes old keys, changes and entries in small batches; one gateway prunes at a time.
package struct JournalPruning: Sendable {
    private let journal: Journal
    private let keyDays: Int
    private let entryDays: Int
    private let changeDays: Int
    private let owner: String
    /// nil if jumps of the clock are not detected.
    private let stopwatch: (@Sendable () -> Stopwatch)?
    private static let batch = 500
    private static let leaseSeconds = 300
    private static let bookmark = "keys-forgotten"

    /// Creates a pruning of a journal.
    ///
    /// - Parameters:
    ///   - owner: names this gateway among those of the database.
    ///   - stopwatch: detects jumps of the database's clock; nil trusts the clock.
    package init(
        journal: Journal, keyDays: Int, entryDays: Int, changeDays: Int = 30, owner: String,
        stopwatch: (@Sendable () -> Stopwatch)? = nil
    ) {
        self.stopwatch = stopwatch
        self.journal = journal
        self.keyDays = keyDays
        self.entryDays = entryDays
        self.changeDays = changeDays
        self.owner = owner
    }

    private var deadline: ContinuousClock.Instant { .now.advanced(by: .seconds(30)) }

    /// Prunes until nothing is expired.
    ///
    /// - Returns: the number of deleted entries; nil if another gateway prunes.
    /// - Throws: `StoreError`; earlier batches stay deleted.
    package func run() async throws(StoreError) -> Int? {
        guard try await takesLease() else { return nil }
        while try await forgetKeys() {
            if Task.isCancelled { return 0 }
            guard try await takesLease() else { return nil }
        }
        while try await forgetChanges() {
            if Task.isCancelled { return 0 }
            guard try await takesLease() else { return nil }
        }
        try await journal.forgetClients(days: entryDays, until: deadline)
        var deleted = 0
        while true {
            let count = try await deleteEntries()
            if count == 0 || Task.isCancelled { return deleted }
            deleted += count
            guard try await takesLease() else { return deleted }
        }
    }

    private func takesLease() async throws(StoreError) -> Bool {
        try await journal.engine.write(deadline: deadline) { [journal, owner] session throws(StoreError) in
            for statement in journal.tables.takeLease(owner, seconds: Self.leaseSeconds) {
                _ = try session.execute(statement)
            }
            return .commit(try Self.meta("prune", of: journal, in: session) == owner)
        }
    }

    /// Releases the lease, so that another gateway can prune at once.
    ///
    /// - Throws: `StoreError`; then the lease expires after some minutes.
    package func giveLeaseBack(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await journal.engine.write(deadline: deadline) { [journal, owner] session throws(StoreError) in
            _ = try session.execute(journal.tables.giveLeaseBack(owner))
            return .commit(())
        }
    }

    private static let reading = "clock"
    private static let jump = "clock-jump"

    /// Stores the current time and detects a jump since the last reading.
    ///
    /// - Returns: the number up to which entries stay regardless of their age.
    private static func held(
        days: Int, of journal: Journal, _ stopwatch: Stopwatch?, in session: any StoreSession
    ) throws(StoreError) -> Int {
        guard let stopwatch else { return 0 }
        let (clock, last) = try clock(of: journal, in: session)
        let now = ClockJump.Reading(clock: clock, stopwatch: stopwatch)
        let earlier = try meta(reading, of: journal, in: session).flatMap { ClockJump.Reading($0) }
        try set(reading, value: now.text, of: journal, in: session)
        if let earlier, ClockJump.lies(between: earlier, and: now) {
            try set(jump, value: ClockJump(found: clock, last: last).text, of: journal, in: session)
        }
        return try meta(jump, of: journal, in: session).flatMap { ClockJump($0) }?.held(days: days, at: clock) ?? 0
    }

    private static func clock(
        of journal: Journal, in session: any StoreSession
    ) throws(StoreError) -> (seconds: Int, last: Int) {
        guard let row = try session.query(journal.tables.clock).first, case .integer(let seconds) = row[0],
            case .integer(let last) = row[1]
        else { throw StoreError(.unreadable, "the database does not report its time") }
        return (Int(clamping: seconds), Int(clamping: last))
    }

    private static func set(
        _ name: String, value: String, of journal: Journal, in session: any StoreSession
    ) throws(StoreError) {
        _ = try session.execute(journal.tables.setMeta(name, value))
        _ = try session.execute(journal.tables.changeMeta(name, value))
    }

    private static func meta(
        _ name: String, of journal: Journal, in session: any StoreSession
    ) throws(StoreError) -> String? {
        guard case .text(let text)? = try session.query(journal.tables.meta(name)).first?.first else { return nil }
        return text.string
    }

    private struct Aged {
        let number: Int
        let isPast: Bool
        let hasName: Bool
        /// True if the row contains only a key.
        let isKeyAlone: Bool

        init?(_ row: [Value]) {
            guard case .integer(let number) = row[0] else { return nil }
            self.number = Int(clamping: number)
            isPast = row[1] == .integer(1)
            hasName = row[2] == .integer(1)
            isKeyAlone = row[3] == .integer(1)
        }
    }

    /// Deletes expired changes; returns true if more may be expired.
    private func forgetChanges() async throws(StoreError) -> Bool {
        try await journal.engine.write(deadline: deadline) {
            [feed = journal.tables.feed, changeDays] session throws(StoreError) in
            // Only one gateway at a time assigns or deletes revisions.
            _ = try session.query(feed.lock)
            _ = try session.execute(feed.forgetGone)
            let rows = try session.query(feed.aged(days: changeDays, limit: Self.batch))
            let past = rows.prefix { $0[1] == .integer(1) }
            guard case .integer(let last)? = past.last?.first else { return .commit(false) }
            for statement in feed.forget(upTo: Int(clamping: last)) { _ = try session.execute(statement) }
            return .commit(past.count == Self.batch)
        }
    }

    /// Deletes expired keys; returns true if more may be expired.
    private func forgetKeys() async throws(StoreError) -> Bool {
        try await journal.engine.write(deadline: deadline) { [journal, keyDays, stopwatch] session throws(StoreError) in
            _ = try session.execute(journal.tables.setMeta(Self.bookmark, "0"))
            let start = try Self.meta(Self.bookmark, of: journal, in: session).flatMap { Int($0) } ?? 0
            let rows = try session.query(journal.tables.aged(after: start, days: keyDays, limit: Self.batch))
                .compactMap(Aged.init)
            let held = try Self.held(days: keyDays, of: journal, stopwatch?(), in: session)
            let past = rows.prefix { $0.isPast && $0.number > held }
            guard let last = past.last else { return .commit(false) }
            let (seconds, newest) = try Self.clock(of: journal, in: session)
            for statement in journal.tables.setKeysSince((seconds - keyDays * 86_400) * 1_000_000) {
                _ = try session.execute(statement)
            }
            // The newest row stays, because a journal whose numbers decrease counts as restored.
            let alone = past.filter { $0.isKeyAlone && $0.number != newest }.map(\.number)
            if !alone.isEmpty { _ = try session.execute(journal.tables.delete(alone)) }
            let named = past.filter { $0.hasName && (!$0.isKeyAlone || $0.number == newest) }.map(\.number)
            if !named.isEmpty { _ = try session.execute(journal.tables.forgetKeys(named)) }
            _ = try session.execute(journal.tables.changeMeta(Self.bookmark, String(last.number)))
            return .commit(past.count == Self.batch)
        }
    }

    private func deleteEntries() async throws(StoreError) -> Int {
        try await journal.engine.write(deadline: deadline) {
            [journal, entryDays, stopwatch] session throws(StoreError) in
            let rows = try session.query(journal.tables.aged(after: 0, days: entryDays, limit: Self.batch))
                .compactMap(Aged.init)
            let held = try Self.held(days: entryDays, of: journal, stopwatch?(), in: session)
            let newest = try Self.clock(of: journal, in: session).last
            let past = rows.prefix { $0.isPast && $0.number > held && $0.number != newest }.map(\.number)
            if !past.isEmpty {
                _ = try session.execute(journal.tables.delete(past))
                _ = try session.execute(journal.tables.forgetEffects(on: past))
            }
            return .commit(past.count)
        }
    }
}
