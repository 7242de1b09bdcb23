import MergeCore
import RecordStore

/// Decides from the rows which in-doubt transactions were committed.
struct InDoubtRecovery {
    let journal: WriteAheadJournal
    let engine: any RecordEngine
    let active: ActiveRules
    let limits: MergeLimits
    /// This process's information on the transaction in doubt; nil after a restart.
    var known: CommitFence.InDoubt?

    /// Decides about every in-doubt transaction.
    ///
    /// Its reads lock the rows, so they wait until the database has ended the transaction.
    func run(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        let tables = journal.journal.tables
        let isClean = try await journal.store.read(deadline: deadline) { session throws(StoreError) in
            try session.query(tables.allPending).isEmpty
        }
        if isClean { return }
        try await engine.write(deadline: deadline) { session throws(StoreError) in
            for transaction in try transactions() {
                let known = known.flatMap { $0.token == transaction.token ? $0 : nil }
                let evidence = Evidence(
                    session: session, dialect: engine.dialect, active: active, limits: limits,
                    codec: journal.journal.codec)
                if known?.isRolledBack == true {
                    try journal.withdrawNow(transaction.token)
                } else if try evidence.isCommitted(transaction.entries) {
                    try journal.writeNow(CommitFence.Commit(journal: journal, token: transaction.token))
                } else {
                    try journal.withdrawNow(transaction.token)
                }
            }
            return .rollback(())
        }
    }

    private struct Transaction {
        let token: String
        let entries: [[Value]]
    }

    private func transactions() throws(StoreError) -> [Transaction] {
        let tables = journal.journal.tables
        return try journal.store.writeNow { session throws(StoreError) in
            var found: [Transaction] = []
            for row in try session.query(tables.allPending) {
                guard let pending = tables.pending(row) else { continue }
                found.append(
                    Transaction(token: pending.token, entries: try session.query(tables.entries(pending.numbers))))
            }
            return found
        }
    }
}

private struct Evidence {
    let session: any StoreSession
    let dialect: any Dialect
    let active: ActiveRules
    let limits: MergeLimits
    let codec: JournalCodec

    func isCommitted(_ entries: [[Value]]) throws(StoreError) -> Bool {
        var effects: [(resource: Resource, effect: RowEffect)] = []
        for entry in entries {
            guard case .text(let name) = entry[0], case .bytes(let body) = entry[1],
                let resource = active.catalog[name.string]
            else { continue }
            for effect in codec.effects(body, resource) { effects.append((resource, effect)) }
        }
        return try CommitEvidence(effects, schema: active.schema, digest: codec.writes.digest).isCommitted {
            piece throws(StoreError) in
            do throws(StoreError) {
                return .row(try row(piece.effect, piece.resource))
            } catch {
                // A table that was altered since then is no evidence.
                guard [.schemaChanged, .unreadable, .denied].contains(error.kind) else { throw error }
                return .none
            }
        }
    }

    private func row(_ effect: RowEffect, _ resource: Resource) throws(StoreError) -> [Value]? {
        let reader = RecordReader(
            resource: resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord)
        let section = resource.sections[effect.row.section]
        guard let key = effect.row.key else {
            guard let record = try reader.records([effect.row.record], locking: true)[0]?.readable,
                case .one(let row) = record.sections[effect.row.section]
            else { return nil }
            return row
        }
        // An edit can hide a row. A deletion may only hide it, and a restored row was hidden.
        let existsThroughout = effect.before != nil && effect.after != nil
        return try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true,
            includesHidden: existsThroughout
        ).first
    }
}
