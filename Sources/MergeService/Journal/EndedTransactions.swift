import RecordStore
import Synchronization

/// Transactions that have ended, of which a journal that is written ahead still has to be told.
///
/// The next transaction tells it in the commit in which it writes its own drafts, before its own writes can make the rows
/// look as if an earlier merge had never been; so a transaction costs the journal one commit and not two.
final class EndedTransactions: Sendable {
    /// The end of one transaction.
    struct End: Sendable {
        let journal: WriteAheadJournal
        let token: String
        /// Else its drafts go.
        let isCommitted: Bool
        let effects: [SingleEffect]
    }

    private let ends = Mutex<[End]>([])

    /// Writes drafts ahead of their transaction, and tells the same journal of those that have ended.
    ///
    /// - Parameter token: names the transaction.
    func write(
        _ drafts: [JournalDraft], ahead token: String, in journal: WriteAheadJournal
    ) throws(StoreError) {
        let told = ends.withLock { $0.filter { $0.journal.store === journal.store } }
        try journal.write(drafts, token: token, after: told)
        forget(told)
    }

    /// Notes how a transaction ended.
    func note(_ end: End) { ends.withLock { $0.append(end) } }

    private func forget(_ told: [End]) {
        let gone = Set(told.map(\.token))
        ends.withLock { $0.removeAll { gone.contains($0.token) } }
    }

    /// The time for which the journal may be busy before it is told by the next transaction.
    private static let patience = Duration.seconds(5)

    /// Tells the journals what is left to tell; where one cannot be told now, the next transaction tells it, or recovery
    /// finds out once this gateway has gone.
    ///
    /// - Parameter deadline: of the request that waits meanwhile; nil where none does.
    func tell(until deadline: ContinuousClock.Instant? = nil) async {
        for end in ends.withLock({ $0 }) {
            let latest = ContinuousClock.now.advanced(by: Self.patience)
            do {
                try await end.journal.write([end], until: deadline.map { min($0, latest) } ?? latest)
            } catch {
                return
            }
            forget([end])
        }
    }
}
