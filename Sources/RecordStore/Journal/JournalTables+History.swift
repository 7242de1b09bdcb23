package import MergeCore

/// The position of a journal in its history, read at once.
package struct JournalPosition: Sendable, Hashable {
    /// The secret of the journal, in hexadecimal digits.
    package let secret: String
    /// The id of the feed.
    package let feed: String
    /// The highest revision.
    package let revision: Int
    /// The highest number of an entry; 0 if there is none.
    package let entry: Int
    /// The stored server identity and commit position; nil if no gateway has stored them.
    package let noted: String?
}

extension JournalTables {
    /// The name of the value that contains the server and its commit position.
    private static let position = "position"

    /// The statement that reads the position of the journal in its history.
    package var historyPosition: Statement {
        Statement(
            sql: """
                SELECT id, last, (SELECT CAST(COALESCE(MAX(n), 0) AS \(dialect.wholeNumberType)) \
                FROM \(dialect.quoted(entries))), (SELECT value FROM \(dialect.quoted(meta)) WHERE name = 'secret'), \
                (SELECT value FROM \(dialect.quoted(meta)) WHERE name = '\(Self.position)') \
                FROM \(dialect.quoted(feed.feed)) WHERE one = 1
                """,
            binds: [],
            columns: [
                JournalColumn.text, JournalColumn.number, JournalColumn.number, JournalColumn.text, JournalColumn.text,
            ])
    }

    /// Decodes the row of `historyPosition`; nil if the feed or the secret is gone.
    package func historyPosition(_ row: [Value]?) -> JournalPosition? {
        guard let row, row.count == 5, case .text(let id) = row[0], case .integer(let last) = row[1],
            case .integer(let entry) = row[2], case .text(let secret) = row[3]
        else { return nil }
        var noted: String?
        if case .text(let text) = row[4] { noted = text.string }
        return JournalPosition(
            secret: secret.string, feed: id.string, revision: Int(clamping: last), entry: Int(clamping: entry),
            noted: noted)
    }

    /// Returns the statements that store the server and its commit position.
    package func note(position: String) -> [Statement] {
        [setMeta(Self.position, position), changeMeta(Self.position, position)]
    }

    /// Reads the database's clock.
    ///
    /// - Returns: microseconds since 1970.
    package func moment(in session: any StoreSession) throws(StoreError) -> Int {
        let question = Statement(sql: "SELECT \(now)", binds: [], columns: [JournalColumn.time])
        guard case .dateTime(let time)? = try session.query(question).first?.first else {
            throw StoreError(.unreadable, "the database does not return its time")
        }
        return time.microsecondsSince1970
    }
}
