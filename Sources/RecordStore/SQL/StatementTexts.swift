import Synchronization

/// Caches the text of statements by their shape.
final class StatementTexts: Sendable {
    enum Shape: Hashable {
        case select([Int], Int, Bool, Bool, Bool, Bool, Bool, Bool)
        case update([Int], [Int], Int)
        /// An INSERT into the journal.
        case insert(schema: String, dialect: String, rows: Int, columns: JournalColumns)
        /// An INSERT into the feed's changes.
        case changes(schema: String, dialect: String, rows: Int)
        /// An INSERT into the feed's departures.
        case departures(schema: String, dialect: String, rows: Int)
    }

    private let texts = Mutex<[Shape: String]>([:])
    /// Clients choose the columns that an edit writes, so the cache needs a limit.
    private static let maximum = 1_024

    func text(_ shape: Shape, _ make: () -> String) -> String {
        if let known = texts.withLock({ $0[shape] }) { return known }
        let made = make()
        texts.withLock { texts in
            if texts.count >= Self.maximum { texts.removeAll() }
            texts[shape] = made
        }
        return made
    }
}
