import MergeCore
import RecordStore

/// Recovery: decides which transactions in doubt were committed.
struct InDoubtRecovery {
    let journal: WriteAheadJournal
    let engine: any RecordEngine
    let active: ActiveRules
    let limits: MergeLimits

    /// Decides on every transaction that is in doubt.
    ///
    /// The database's lock is held meanwhile, so that no merge is halfway.
    func run(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        let tables = journal.journal.tables
        let isClean = try await journal.store.read(deadline: deadline) { session throws(StoreError) in
            try session.query(tables.allPending).isEmpty
        }
        if isClean { return }
        try await engine.write(deadline: deadline) { session throws(StoreError) in
            for draft in try drafts() {
                let evidence = Evidence(session: session, dialect: engine.dialect, active: active, limits: limits)
                let isCommitted = try evidence.isCommitted(draft.entries, journal.journal.codec)
                let end = EndedTransactions.End(
                    journal: journal, token: draft.token, isCommitted: isCommitted, effects: [])
                try journal.writeNow([end])
            }
            return .rollback(())
        }
    }

    /// Drafts of a transaction in doubt.
    private struct Draft {
        let token: String
        let entries: [[Value]]
    }

    private func drafts() throws(StoreError) -> [Draft] {
        let tables = journal.journal.tables
        return try journal.store.writeNow { session throws(StoreError) in
            var drafts: [Draft] = []
            for row in try session.query(tables.allPending) {
                guard let pending = tables.pending(row) else { continue }
                drafts.append(Draft(token: pending.token, entries: try session.query(tables.entries(pending.numbers))))
            }
            return drafts
        }
    }
}

/// Evidence in the rows that a merge was committed, or was not.
private struct Evidence {
    let session: any StoreSession
    let dialect: any Dialect
    let active: ActiveRules
    let limits: MergeLimits

    /// Returns true where the rows hold what was written.
    ///
    /// Rows that hold neither that nor what stood before were changed by somebody since, which only follows a merge that
    /// was over; then the journal is believed.
    func isCommitted(_ entries: [[Value]], _ codec: JournalCodec) throws(StoreError) -> Bool {
        var looksUndone = false
        for entry in entries {
            guard case .text(let name) = entry[0], case .bytes(let body) = entry[1],
                let resource = active.catalog[name.string]
            else { continue }
            for effect in codec.effects(body, resource) {
                let row = try row(effect, resource)
                let isAfter = Self.matches(row, fields: effect.after, in: resource.sections[effect.section])
                let isBefore = Self.matches(row, fields: effect.before, in: resource.sections[effect.section])
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

    private static func matches(_ row: [Value]?, fields: [Int: Value]?, in section: Section) -> Bool {
        guard let row, let fields else { return row == nil && fields == nil }
        return fields.allSatisfy { field, value in row[section.fields[field].column] == value }
    }
}
