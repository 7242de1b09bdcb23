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
        let sql =
            switch dialect {
            // Where the server ignores the case of names it compares them in lower case, however they were made.
            case .mariadb: "SELECT IF(@@lower_case_table_names = 0, DATABASE(), LOWER(DATABASE()))"
            case .sqlite: Self.fileSQL("main")
            }
        guard let name = try await Self.text(sql, database, deadline), !name.isEmpty else {
            throw StoreError(.other, "the database does not say what it is called")
        }
        switch dialect {
        case .mariadb: self.init(text: "mariadb:" + name)
        case .sqlite: self.init(text: "sqlite:\(try Self.number(of: name)):" + name)
        }
    }

    /// The database as people call it: its schema, or the path of its file.
    package var name: String {
        let parts = text.string.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        switch parts.first {
        case "mariadb" where parts.count > 1: return parts[1...].joined(separator: ":")
        case "sqlite" where parts.count == 3: return parts[2]
        default: return text.string
        }
    }

    /// The question for the path of a file that a SQLite connection has open, as the system spells it: absolute, and
    /// without symbolic links.
    static func fileSQL(_ schema: String) -> String { "SELECT file FROM pragma_database_list WHERE name = '\(schema)'" }

    /// The first value of a question's answer.
    static func text(
        _ sql: String, _ database: any RecordEngine, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> String? {
        let rows = try await database.read(deadline: deadline) { session throws(StoreError) in
            try session.query(Statement(sql: sql, binds: [], columns: [JournalColumn.text]))
        }
        guard case .text(let text)? = rows.first?.first else { return nil }
        return text.string
    }

    private static func number(of path: String) throws(StoreError) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let number = attributes?[.systemFileNumber] as? UInt64 else {
            throw StoreError(.unavailable, "the file \(path) cannot be looked at")
        }
        return number
    }
}
