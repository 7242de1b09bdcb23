import MergeCore
package import RecordStore

/// Writes the journal entries of one transaction: in that transaction, ahead of it, or not at all.
final class JournalWriter {
    private enum Place {
        /// The journal is off.
        case nowhere
        /// In the transaction of the merge.
        case together(Journal)
        /// In a separate store, before the merge is committed.
        case ahead(WriteAheadJournal)
    }

    enum Outcome {
        case committed
        case rolledBack
        /// The connection broke during COMMIT: recovery decides.
        case unknown
    }

    private let place: Place
    private let fence: CommitFence
    private let deadline: ContinuousClock.Instant
    private let token = WriteAheadJournal.newToken()
    private var hasPassedFence = false
    /// True if the journal contains an in-doubt transaction of another process.
    private var hasMetDoubt = false

    /// Creates a writer; `deadline` is the latest time to pass the fence.
    init(_ journal: Journal?, _ fence: CommitFence, until deadline: ContinuousClock.Instant) {
        self.fence = fence
        self.deadline = deadline
        guard let journal else {
            place = .nowhere
            return
        }
        place = WriteAheadJournal(journal).map { .ahead($0) } ?? .together(journal)
    }

    /// Writes the entries of merged pushes.
    ///
    /// - Parameter session: the session of the merge.
    /// - Throws: `StoreError`; of the kind `knownKey` if the key has an entry, `takenEffect` if an effect has happened
    ///   before.
    func keep(_ pushes: [KeptPush], in session: any StoreSession) throws(StoreError) {
        let drafts = pushes.compactMap(\.draft)
        let effects = pushes.flatMap { $0.takesEffect ? $0.effects : [] }
        switch place {
        case .nowhere: return
        case .together(let journal):
            try Self.asJournal { () throws(StoreError) in
                try Self.insert(drafts, in: journal.tables, session)
                try Self.note(effects, in: journal.tables, session)
            }
        case .ahead(let journal):
            try fence.enter(until: deadline)
            hasPassedFence = true
            do throws(StoreError) {
                try Self.asJournal { () throws(StoreError) in
                    try Self.refusingKnownKeys { () throws(StoreError) in
                        try fence.write(drafts, taking: effects, ahead: token, in: journal)
                    }
                }
            } catch {
                hasMetDoubt = error == WriteAheadJournal.inDoubt
                throw error
            }
        }
    }

    private static func asJournal(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            guard error.kind == .tooLarge else { throw error.ofJournal }
            throw StoreError(
                .tooLarge,
                "The journal cannot keep the answer of this push: \(error.message). Send fewer edits in one push.",
                code: error.code)
        }
    }

    func transactionHasEnded(_ outcome: Outcome) {
        guard case .ahead(let journal) = place, hasPassedFence else { return }
        hasPassedFence = false
        switch outcome {
        case .committed: fence.leave(CommitFence.Commit(journal: journal, token: token))
        case .rolledBack where hasMetDoubt:
            fence.close(CommitFence.InDoubt(token: nil, isRolledBack: false))
        case .rolledBack:
            do throws(StoreError) {
                // A lookup of the key must not find these drafts.
                try journal.withdrawNow(token)
                fence.leave()
            } catch {
                fence.close(CommitFence.InDoubt(token: token, isRolledBack: true))
            }
        case .unknown: fence.close(CommitFence.InDoubt(token: token, isRolledBack: false))
        }
    }

    /// Stores a refused push with its whole request; throws like `keep`.
    static func keepRefused(
        _ draft: JournalDraft, in tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) {
        try asJournal { () throws(StoreError) in try insert([draft], in: tables, session) }
    }

    private static func insert(
        _ drafts: [JournalDraft], in tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) {
        let inserts = tables.insert(drafts)
        guard !tables.dialect.sequencesWithMerge else { return try insert(inserts, in: tables.feed, session) }
        // The feed's row uses the number of the preceding INSERT.
        var statements = inserts.flatMap { insert in
            [insert.statement] + (insert.changes.map { [tables.feed.insert($0)] } ?? [])
        }[...]
        try refusingKnownKeys { () throws(StoreError) in try session.run({ statements.popFirst() }) { _ in } }
    }

    /// Inserts the entries and assigns their revisions, if only one transaction writes at a time.
    private static func insert(
        _ inserts: [JournalTables.Insert], in feed: FeedTables, _ session: any StoreSession
    ) throws(StoreError) {
        var changes: [CommittedChange] = []
        for insert in inserts {
            var last = 0
            try refusingKnownKeys { () throws(StoreError) in
                last = Int(clamping: try session.execute(insert.statement).generatedKey)
            }
            changes += insert.changes?.numbered(from: last - insert.rows + 1, step: 1) ?? []
        }
        if !changes.isEmpty { try Sequencing.give(changes, in: feed, session) }
    }

    /// The only unique index of the entries is that of the keys.
    private static func refusingKnownKeys(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            guard error.isCollision else { throw error }
            throw StoreError(.knownKey, "the push's key is kept already", code: error.code)
        }
    }

    /// Records effects.
    ///
    /// - Parameter token: of a write-ahead transaction.
    /// - Throws: `StoreError` of the kind `takenEffect` if one of them has happened before.
    static func note(
        _ effects: [SingleEffect], of token: String? = nil, in tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) {
        do {
            for statement in tables.mark(effects, of: token) { _ = try session.execute(statement) }
        } catch {
            guard error.isCollision else { throw error }
            throw StoreError(.takenEffect, "it has taken effect before", code: error.code)
        }
    }
}

struct KeptPush: Sendable {
    let answer: PushAnswer
    /// nil if the journal is off.
    let draft: JournalDraft?
    /// They count only if the push writes something.
    let effects: [SingleEffect]

    var takesEffect: Bool { answer.takesEffect }
}

extension StoreError {
    /// Converts an error of the journal's tables to an error of a push.
    ///
    /// If a table or a right is missing, the journal cannot be written for now.
    package var ofJournal: StoreError {
        switch kind {
        case .denied, .schemaChanged:
            StoreError(.unwritable, "the journal cannot be written: \(message)", code: code)
        default: self
        }
    }

    var isCollision: Bool {
        if case .constraint(let violation) = kind { violation.kind == .unique } else { false }
    }
}
