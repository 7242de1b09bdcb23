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
                    try journal.writeNow(
                        CommitFence.Commit(
                            journal: journal, token: transaction.token, effects: known?.effects ?? []))
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

    /// Returns true if a row contains a written value, or if no row contains an earlier value.
    ///
    /// The fence keeps gateways from the rows, so only another program can have changed all of them. It most likely
    /// followed a committed transaction.
    func isCommitted(_ entries: [[Value]]) throws(StoreError) -> Bool {
        var looksUndone = false
        for entry in composed(entries) {
            for effect in entry.effects.values {
                let row: [Value]?
                do throws(StoreError) {
                    row = try self.row(effect, entry.resource)
                } catch {
                    // A table that was altered since then is no evidence.
                    guard [.schemaChanged, .unreadable, .denied].contains(error.kind) else { throw error }
                    continue
                }
                switch entry.verdict(on: effect, row: row) {
                case true: return true
                case false: looksUndone = true
                case nil: break
                }
            }
        }
        return !looksUndone
    }

    /// The effects of a transaction on the rows of one resource, each row once.
    private struct ResourceEffects {
        let resource: Resource
        let codec: JournalCodec
        var effects: [RowEffect.Row: RowEffect] = [:]

        /// Returns true if the row is as after the transaction, false if as before; nil if neither or both.
        func verdict(on effect: RowEffect, row: [Value]?) -> Bool? {
            switch (effect.before, effect.after) {
            case (nil, nil): return nil
            case (nil, let after?):
                guard let row else { return false }
                return after.isEmpty || after.contains { matches(row, $0.value, at: $0.key, of: effect) } ? true : nil
            case (let before?, nil):
                guard let row else { return true }
                return before.allSatisfy { matches(row, $0.value, at: $0.key, of: effect) } ? false : nil
            case (let before?, let after?):
                guard let row else { return nil }
                let changed = after.filter { field, value in before[field].map { $0 != value } ?? false }
                if changed.contains(where: { matches(row, $0.value, at: $0.key, of: effect) }) { return true }
                let isBefore = changed.contains { field, _ in
                    before[field].map { matches(row, $0, at: field, of: effect) } ?? false
                }
                return isBefore ? false : nil
            }
        }

        private func matches(_ row: [Value], _ kept: KeptValue, at field: Int, of effect: RowEffect) -> Bool {
            let section = resource.sections[effect.row.section]
            let column = section.fields[field].column
            switch kept {
            case .plain(let value): return row[column] == value
            case .digest(let digest): return codec.writes.digest(row[column], section.columns[column]) == digest
            }
        }
    }

    private func composed(_ entries: [[Value]]) -> [ResourceEffects] {
        var found: [String: ResourceEffects] = [:]
        for entry in entries {
            guard case .text(let name) = entry[0], case .bytes(let body) = entry[1],
                let resource = active.catalog[name.string]
            else { continue }
            for effect in codec.effects(body, resource) {
                var known = found[resource.name] ?? ResourceEffects(resource: resource, codec: codec)
                if known.effects[effect.row]?.add(effect) == nil { known.effects[effect.row] = effect }
                found[resource.name] = known
            }
        }
        return Array(found.values)
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
