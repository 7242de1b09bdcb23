import Synchronization
import Foundation
import GRDB

/// The kinds of events that are kept until their delivery.
enum EventKind: String, Sendable, CaseIterable {
    case conflict, overtaken, refused, gone
}

/// Another process has the lease now; answers to this process are ignored.
struct LeaseLost: Error {}

/// Undelivered events, the lease, and edits that the app adds to records of the gateway.
extension Ledger {
    static let beatSeconds = 5.0
    static let missedBeats = 3.0
    static let eventsKept = 10_000
    static let ticketsKeptSeconds = 90.0 * 24 * 3_600

    // MARK: Events

    func queue(_ kind: EventKind, _ body: JSONValue) throws {
        try write("INSERT INTO event (kind, body) VALUES (?, ?)", [kind.rawValue, body.text])
        try write("DELETE FROM event WHERE seq <= (SELECT max(seq) FROM event) - ?", [Self.eventsKept])
        effects.hasEvents = true
    }

    /// An undelivered event.
    struct StoredEvent: Sendable {
        let number: Int64
        let kind: EventKind
        let body: JSONValue
        /// This process delivers it already.
        var isOwn = true
    }

    /// Returns the next event of these kinds after a number that no other process delivers; nil if there is none.
    func nextEvent(_ kinds: [EventKind], after number: Int64) throws -> StoredEvent? {
        let names = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let found = try Row.fetchCursor(
            db.cachedStatement(
                sql: "SELECT seq, kind, body, owner FROM event WHERE seq > ? AND kind IN (\(names)) ORDER BY seq"),
            arguments: [number])
        while let row = try found.next() {
            let owner: String? = row[3]
            guard owner == nil || owner == context.owner || LedgerContext.hasEnded(owner ?? ""),
                let kind = EventKind(rawValue: row[1]), let body = JSONValue(text: row[2] as String)
            else { continue }
            return StoredEvent(number: row[0], kind: kind, body: body, isOwn: owner == context.owner)
        }
        return nil
    }

    /// Returns the next event of a kind, which no other process delivers from now on.
    func claimEvent(_ kind: EventKind, after number: Int64) throws -> StoredEvent? {
        guard let event = try nextEvent([kind], after: number) else { return nil }
        try write("UPDATE event SET owner = ? WHERE seq = ?", [context.owner, event.number])
        return event
    }

    /// Returns the numbers of events of a kind, up to a number, that an ended opening did not deliver.
    func abandonedEvents(_ kind: EventKind, through number: Int64) throws -> [Int64] {
        try rows(
            "SELECT seq, owner FROM event WHERE kind = ? AND seq <= ? AND owner <> ?",
            [kind.rawValue, number, context.owner]
        ).filter { LedgerContext.hasEnded($0[1]) }.map { $0[0] }
    }

    /// Moves such events to the end, so that the readers of this process get them.
    func requeueAbandoned(_ kind: EventKind, through number: Int64) throws {
        for event in try abandonedEvents(kind, through: number) {
            try write("INSERT INTO event (kind, body) SELECT kind, body FROM event WHERE seq = ?", [event])
            try write("DELETE FROM event WHERE seq = ?", [event])
        }
    }

    /// Deletes the events of a kind that all readers here have handled.
    func forgetEvents(_ kind: EventKind, through number: Int64) throws {
        try noteDelivered(kind, through: number)
        try write(
            "DELETE FROM event WHERE kind = ? AND seq <= ? AND owner = ?", [kind.rawValue, number, context.owner])
    }

    // MARK: The lease

    /// Acquires the right to sync; false while another process has it and renews it.
    ///
    /// - Throws: `FieldMergeError.storeClosed` after a sign-out.
    func takeLease() throws -> Bool {
        if try isSignedOut() { throw FieldMergeError.storeClosed }
        guard try isLeaseFree() else { return false }
        try write("INSERT OR REPLACE INTO lease VALUES (1, ?, ?)", [context.owner, context.clock.now()])
        return true
    }

    /// Returns whether no other process has the right to sync and renews it.
    func isLeaseFree() throws -> Bool {
        guard let row = try row("SELECT owner, beat FROM lease"), row[0] != context.owner else { return true }
        let age = abs(context.clock.now() - (row[1] as Double))
        return LedgerContext.hasEnded(row[0], isStrict: true) || age >= Self.beatSeconds * Self.missedBeats
    }

    /// Says that the sync under way is alive.
    func beat() throws { try write("UPDATE lease SET beat = ? WHERE owner = ?", [context.clock.now(), context.owner]) }

    /// Gives the right to sync back.
    func dropLease() throws { try write("DELETE FROM lease WHERE owner = ?", [context.owner]) }

    /// - Throws: `LeaseLost` unless this opening of the store has the right to sync.
    func checkLease() throws {
        if try isSignedOut() { throw LeaseLost() }
        let owner = try text("SELECT owner FROM lease")
        if owner == context.owner { return }
        guard owner == nil, context.isLeaseUnstored.withLock({ $0 }) else { throw LeaseLost() }
    }

    // MARK: Hooks

    /// Calls the functions of `beforeStore`, which may add edits to the transaction that stores records of the gateway.
    func runHooks() throws {
        let told = incoming
        incoming = []
        guard !told.isEmpty, let rules = try rules() else { return }
        let hooks = context.hooks.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
        for record in told {
            for hook in hooks {
                let transaction = FieldMergeTransaction(over: .ledger(self), rules: rules)
                let change = IncomingChange(
                    resource: record.resource, id: record.id,
                    before: record.before.map { Record($0, rules.resources[record.resource]) },
                    after: record.after.map { Record($0, rules.resources[record.resource]) }, transaction: transaction)
                // The records are stored although a repair fails.
                guard (try? hook(change)) != nil else { continue }
                let drafts = transaction.drafts()
                if !drafts.isEmpty { try commitRepair(drafts) }
            }
        }
    }

    /// Stores a repair.
    ///
    /// A repair adds nothing if it no longer fits the record.
    private func commitRepair(_ drafts: [Draft]) throws {
        do {
            _ = try commit(drafts, nil)
        } catch is InvalidEdit {
            return
        } catch is FieldMergeError {
            return
        }
    }

    // MARK: Housekeeping

    /// Deletes tickets that were settled long ago.
    func prune() throws {
        try write(
            "DELETE FROM ticket WHERE outcome IS NOT NULL AND push IS NULL AND at < ?",
            [context.clock.now() - Self.ticketsKeptSeconds])
    }

    /// Returns how many edits would be lost with the store.
    ///
    /// - Parameter withRefused: counts refused edits without a result too, since the journal of the gateway lacks them.
    func losable(withRefused: Bool) throws -> Int {
        let unsent = try counts().unsent
        guard withRefused else { return unsent }
        return try refusals().filter { $0.told["hasRecord"] != true }.reduce(unsent) { $0 + $1.edits.count }
    }

    /// The outcomes of a deleted store, for tickets that an app still has.
    struct LastWords: Sendable {
        let outcomes: [String: (stored: StoredOutcome, resource: ResourceRules?)]
    }

    /// Returns whether the user has signed out: the store is empty, and its file is about to be deleted.
    func isSignedOut() throws -> Bool { try !meta("signedOut").isNull }

    /// Empties the store and marks it as signed out; returns the outcomes of its edits.
    ///
    /// - Throws: `FieldMergeError.unsentEdits` if edits would be lost without permission.
    func discardAll(policy: UnsentPolicy) throws -> LastWords {
        if policy != .discard {
            let unsent = try losable(withRefused: policy == .refuse)
            guard unsent == 0 else { throw FieldMergeError.unsentEdits(unsent: unsent) }
        }
        try discardTickets("outcome IS NULL")
        let rules = try rules()
        var outcomes: [String: (stored: StoredOutcome, resource: ResourceRules?)] = [:]
        for ticket in try tickets("outcome IS NOT NULL", []) {
            guard let outcome = try outcome(of: ticket.token) else { continue }
            outcomes[ticket.token] = (outcome, ticket.records.first.flatMap { rules?.resources[$0.resource] })
        }
        let tables = [
            "edit", "push", "base", "creation", "mapping", "created_row", "event", "conflict_entry", "meta", "lease",
        ]
        for table in tables {
            try write("DELETE FROM \(table)")
        }
        try setMeta("format", .integer(Int128(StoreSchema.format)))
        try setMeta("signedOut", .string(context.owner))
        return LastWords(outcomes: outcomes)
    }
}
