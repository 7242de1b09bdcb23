import MergeCore
import RecordStore

/// A journal that cannot take part in the merge's transaction: SQLite commits two files one after the other where one
/// is in WAL mode, and two servers know nothing of each other.
///
/// So the draft is kept first, marked as pending; then the merge is committed; then the mark goes. A mark that is left
/// over is settled by looking at the rows: do they hold what the entry wrote, or what stood before?
struct AsideJournal {
    let journal: Journal
    let store: any WaitingStore

    init?(_ journal: Journal) {
        guard let store = journal.aside else { return nil }
        self.journal = journal
        self.store = store
    }

    /// A name for one transaction's drafts.
    static func newToken() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Keeps the drafts of one transaction before it is committed; those of an earlier attempt are taken back.
    ///
    /// - Parameter marks: of other transactions that have ended; they go in the same commit.
    func announce(
        _ drafts: [JournalDraft], token: String, clearing marks: [AsideMarks.Mark]
    ) throws(StoreError) {
        let tables = journal.tables
        try store.writeNow { session throws(StoreError) in
            try Self.clear(marks, tables, session)
            try Self.withdraw(token, tables, session)
            var numbers: ClosedRange<Int>?
            for insert in tables.insert(drafts) {
                let last = Int(clamping: try session.execute(insert.statement).generatedKey)
                numbers = (numbers?.lowerBound ?? last - insert.rows + 1)...last
            }
            if let numbers { _ = try session.execute(tables.setPending(token, numbers)) }
        }
    }

    private static func withdraw(
        _ token: String, _ tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) {
        for row in try session.query(tables.allPending) {
            guard let pending = tables.pending(row), pending.token == token else { continue }
            _ = try session.execute(tables.delete(pending.numbers))
            _ = try session.execute(tables.settled(token))
        }
    }

    private static func clear(
        _ marks: [AsideMarks.Mark], _ tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) {
        for mark in marks {
            if mark.isCommitted {
                _ = try session.execute(tables.settled(mark.token))
                if !mark.effects.isEmpty { try note(mark.effects, tables, session) }
            } else {
                try withdraw(mark.token, tables, session)
            }
        }
    }

    /// Where it was done twice at once, or the mark is taken off a second time, it is noted already.
    private static func note(
        _ effects: [SingleEffect], _ tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) {
        do {
            for statement in tables.mark(effects) { _ = try session.execute(statement) }
        } catch {
            guard case .constraint(let violation) = error.kind, violation.kind == .unique else { throw error }
        }
    }

    /// Takes off the marks of transactions that have ended.
    func clear(_ marks: [AsideMarks.Mark], _ deadline: ContinuousClock.Instant) async throws(StoreError) {
        let tables = journal.tables
        try await store.write(deadline: deadline) { session throws(StoreError) in
            try Self.clear(marks, tables, session)
            return .commit(())
        }
    }

    /// The merge was taken back.
    func withdraw(_ token: String, _ deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await clear([AsideMarks.Mark(aside: self, token: token, isCommitted: false)], deadline)
    }

    /// Settles every mark that is left over.
    ///
    /// The database's lock is held meanwhile, so that no merge is halfway.
    func settle(
        _ engine: any RecordEngine, _ served: Served, _ limits: MergeLimits, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        let tables = journal.tables
        let isClean = try await store.read(deadline: deadline) { session throws(StoreError) in
            try session.query(tables.allPending).isEmpty
        }
        if isClean { return }
        let dialect = engine.dialect
        try await engine.write(deadline: deadline) { session throws(StoreError) in
            let drafts = try store.writeNow { aside throws(StoreError) in
                var drafts: [(token: String, entries: [[Value]])] = []
                for row in try aside.query(tables.allPending) {
                    guard let pending = tables.pending(row) else { continue }
                    drafts.append((pending.token, try aside.query(tables.entries(pending.numbers))))
                }
                return drafts
            }
            for draft in drafts {
                let judge = Evidence(session: session, dialect: dialect, served: served, limits: limits)
                let isCommitted = try judge.isCommitted(draft.entries, journal.codec)
                try store.writeNow { aside throws(StoreError) in
                    if isCommitted {
                        _ = try aside.execute(tables.settled(draft.token))
                    } else {
                        try Self.withdraw(draft.token, tables, aside)
                    }
                }
            }
            return .rollback(())
        }
    }
}

/// Evidence in the rows that a merge was committed, or was not.
private struct Evidence {
    let session: any StoreSession
    let dialect: any Dialect
    let served: Served
    let limits: MergeLimits

    /// Where the rows hold neither what was written nor what stood before, somebody has changed them since, which only
    /// follows a merge that was over; then the journal is believed.
    func isCommitted(_ entries: [[Value]], _ codec: JournalCodec) throws(StoreError) -> Bool {
        var looksUndone = false
        for entry in entries {
            guard case .text(let name) = entry[0], case .bytes(let body) = entry[1],
                let resource = served.catalog[name.string]
            else { continue }
            for effect in codec.effects(body, resource) {
                let row = try row(effect, resource)
                let isAfter = Self.matches(row, effect.after, resource.sections[effect.section])
                let isBefore = Self.matches(row, effect.before, resource.sections[effect.section])
                if isAfter, !isBefore { return true }
                if isBefore, !isAfter { looksUndone = true }
            }
        }
        return !looksUndone
    }

    private func row(_ effect: RowEffect, _ resource: Resource) throws(StoreError) -> [Value]? {
        let section = resource.sections[effect.section]
        return try RecordReader(
            resource: resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord
        ).rows(
            of: section, where: Array(0..<section.keyCount), in: [effect.key.parts], locking: true, includesHidden: true
        ).first
    }

    private static func matches(_ row: [Value]?, _ fields: [Int: Value]?, _ section: Section) -> Bool {
        guard let row, let fields else { return row == nil && fields == nil }
        return fields.allSatisfy { field, value in row[section.fields[field].column] == value }
    }
}
