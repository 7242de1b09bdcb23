import FoundationEssentials
package import MergeCore
import RecordStore

/// The mark that tells a database from others, as its journal notes it: the schema on a MariaDB server, or a SQLite
/// file.
///
/// A file is known by its path and by the number that its file system gave it: a copy lies elsewhere, and a file that was
/// put in the place of another has another number. The legacy file itself cannot carry a mark.
package struct DatabaseMark: Sendable, Hashable {
    /// The mark as the journal holds it: `mariadb:shop` or `sqlite:4711:/srv/shop.sqlite`.
    package let text: ExactText

    init(text: String) {
        self.text = ExactText(text)
    }

    /// Reads the mark of a database.
    ///
    /// - Throws: `StoreError` where the database cannot be asked.
    init(of database: any RecordEngine, deadline: ContinuousClock.Instant) async throws(StoreError) {
        let dialect = database.dialect
        guard let name = try await Self.text(dialect.databaseName, in: database, deadline: deadline), !name.isEmpty
        else {
            throw StoreError(.other, "the database does not say what it is called")
        }
        self.init(text: dialect.name + ":" + (dialect.isFile ? "\(try Self.number(of: name)):" : "") + name)
    }

    /// The database as people call it: its schema, or the path of its file.
    package var name: String {
        let parts = text.string.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1 else { return text.string }
        let isFile = parts.count == 3 && UInt64(parts[1]) != nil
        return isFile ? parts[2] : parts[1...].joined(separator: ":")
    }

    /// The first value of a question's answer.
    static func text(
        _ sql: String, in database: any RecordEngine, deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> String? {
        let rows = try await database.read(deadline: deadline) { session throws(StoreError) in
            try session.query(Statement(sql: sql, binds: [], columns: [JournalColumn.text]))
        }
        guard case .text(let text)? = rows.first?.first else { return nil }
        return text.string
    }

    /// The number that the file system gave a file.
    static func number(of path: String) throws(StoreError) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let number = attributes?[.systemFileNumber] as? UInt64 else {
            throw StoreError(.unavailable, "the file \(path) cannot be looked at")
        }
        return number
    }
}
