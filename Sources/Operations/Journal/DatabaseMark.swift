import FoundationEssentials
package import MergeCore
import RecordStore

/// The identity of a database in its journal: the schema on a MariaDB server, or a SQLite file.
///
/// A file is identified by path and inode number: a copy has another path, and a replaced file another number.
package struct DatabaseMark: Sendable, Hashable {
    /// The form in the journal: `mariadb:shop` or `sqlite:4711:/srv/shop.sqlite`.
    package let text: ExactText

    init(text: String) {
        self.text = ExactText(text)
    }

    /// Reads the mark of a database.
    ///
    /// - Throws: `StoreError` if the query fails.
    init(of database: any RecordEngine, deadline: ContinuousClock.Instant) async throws(StoreError) {
        let dialect = database.dialect
        guard let name = try await Self.text(dialect.databaseName, in: database, deadline: deadline), !name.isEmpty
        else {
            throw StoreError(.other, "the database does not report its name")
        }
        self.init(text: dialect.name + ":" + (dialect.isFile ? "\(try Self.number(of: name)):" : "") + name)
    }

    /// The name for users: the schema, or the path of the file.
    package var name: String {
        let parts = text.string.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1 else { return text.string }
        let isFile = parts.count == 3 && UInt64(parts[1]) != nil
        return isFile ? parts[2] : parts[1...].joined(separator: ":")
    }

    static func text(
        _ sql: String, in database: any RecordEngine, deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> String? {
        let rows = try await database.read(deadline: deadline) { session throws(StoreError) in
            try session.query(Statement(sql: sql, binds: [], columns: [JournalColumn.text]))
        }
        guard case .text(let text)? = rows.first?.first else { return nil }
        return text.string
    }

    /// Returns the inode number of a file.
    static func number(of path: String) throws(StoreError) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let number = attributes?[.systemFileNumber] as? UInt64 else {
            throw StoreError(.unavailable, "the file \(path) cannot be looked at")
        }
        return number
    }
}
