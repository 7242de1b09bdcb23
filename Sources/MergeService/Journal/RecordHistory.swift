import MergeCore
import RecordStore

/// The last merges of records in the journal, without changes of other programs.
struct RecordHistory {
    let journal: Journal
    /// The session of the merge, which also reads the journal if both share a database.
    let session: any StoreSession

    private static let most = 200
    /// The most entries in memory at once; an entry may be long.
    private static let page = 8

    /// Reads the entries of a record, newest first, until `body` returns false.
    func read(
        _ name: RecordName, _ body: (Authorship.Author, [UInt8]) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var before: Int?
        var left = Self.most
        while left > 0 {
            let limit = min(left, Self.page)
            let rows = try rows(journal.tables.merges(of: name, before: before, limit: limit))
            for row in rows {
                guard let (author, entry) = journal.tables.merge(row) else { continue }
                before = author.entry
                if author.who == Sender.foreignProgram.who { continue }
                guard try body(author, entry) else { return }
            }
            if rows.count < limit { return }
            left -= rows.count
        }
    }

    private func rows(_ question: Statement) throws(StoreError) -> [[Value]] {
        do throws(StoreError) {
            guard let ahead = journal.ahead else { return try session.query(question) }
            return try ahead.writeNow { session throws(StoreError) in try session.query(question) }
        } catch {
            throw error.ofJournal
        }
    }
}
