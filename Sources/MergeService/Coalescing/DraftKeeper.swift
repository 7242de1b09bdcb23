import RecordStore

/// Keeps what the pushes of one shared transaction leave behind.
final class DraftKeeper {
    private let journal: Journal?
    private let session: any StoreSession
    /// Hands all drafts to a journal that is written aside.
    private let announce: ([JournalDraft], AsideJournal) throws(StoreError) -> Void
    /// Those that wait for the others, because a journal aside has one transaction for all.
    private var drafts: [JournalDraft] = []
    private var sent: [Ticket] = []

    init(
        _ journal: Journal?, _ session: any StoreSession,
        announce: @escaping ([JournalDraft], AsideJournal) throws(StoreError) -> Void
    ) {
        self.journal = journal
        self.session = session
        self.announce = announce
    }

    func take(_ new: [JournalDraft]) {
        guard let journal else { return }
        if journal.aside != nil {
            drafts += new
        } else {
            for insert in journal.tables.insert(new) { sent.append(session.send(insert.statement)) }
        }
    }

    /// Waits until all is kept.
    ///
    /// - Throws: `StoreError`, of the kind `knownKey` where one of the pushes was answered before.
    func settle() throws(StoreError) {
        if let aside = journal.flatMap({ AsideJournal($0) }) { return try announce(drafts, aside) }
        try MergeService.noting { () throws(StoreError) in
            for ticket in sent { _ = try session.receive(ticket) }
        }
    }
}
