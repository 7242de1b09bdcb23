import Synchronization

/// Texts of statements, each put together once for its shape.
final class StatementTexts: Sendable {
    /// The features that tell the text of one statement from another's.
    enum Shape: Hashable {
        case select([Int], Int, Bool, Bool, Bool, Bool, Bool)
        case update([Int], [Int], Int)
        /// Into the journal.
        case insert(schema: String, dialect: String, rows: Int, columns: JournalColumns)
        /// Into the feed's changes.
        case changes(schema: String, dialect: String, rows: Int)
        /// Into the feed's departures.
        case departures(schema: String, dialect: String, rows: Int)
    }

    private let texts = Mutex<[Shape: String]>([:])
    /// Clients choose which columns an edit writes, so the shapes are bounded.
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
