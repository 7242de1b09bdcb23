import RecordStore
import Synchronization

/// The marks of transactions that have ended, in a journal that is written aside.
///
/// The next transaction takes them off in the commit in which it leaves its own, before its own writes can make the rows
/// look as if an earlier merge had never been; so a transaction costs the journal one commit and not two.
final class AsideMarks: Sendable {
    struct Mark: Sendable {
        let aside: AsideJournal
        let token: String
        /// Else the drafts go with the mark.
        let isCommitted: Bool
        var effects: [SingleEffect] = []
    }

    private let ended = Mutex<[Mark]>([])

    /// Keeps drafts under a mark of their own, and takes off those that have ended in the same journal.
    func announce(_ drafts: [JournalDraft], token: String, in aside: AsideJournal) throws(StoreError) {
        let ended = ended.withLock { $0.filter { $0.aside.store === aside.store } }
        try aside.announce(drafts, token: token, clearing: ended)
        let gone = Set(ended.map(\.token))
        self.ended.withLock { $0.removeAll { gone.contains($0.token) } }
    }

    /// Notes how a transaction ended.
    func end(_ mark: Mark) { ended.withLock { $0.append(mark) } }

    /// The time for which the journal may be busy before its marks are left to the next transaction.
    private static let patience = Duration.seconds(5)

    /// Takes off what is left; what cannot be stays noted for the next transaction, or is settled by whoever looks a key
    /// up once this gateway has gone.
    func clear() async {
        for mark in ended.withLock({ $0 }) {
            do {
                try await mark.aside.clear([mark], .now.advanced(by: Self.patience))
            } catch {
                return
            }
            ended.withLock { $0.removeAll { $0.token == mark.token } }
        }
    }
}
