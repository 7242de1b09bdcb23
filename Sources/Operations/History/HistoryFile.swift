internal import Crypto
import FoundationEssentials
import MergeCore

/// The file with the highest position that a gateway has read.
///
/// A restore of the database and the journal does not restore this file. So a gateway detects the restore at its start.
package struct HistoryFile: Sendable {
    /// The path of the file.
    package let path: String
    private let database: String?

    /// Names a file, which may be missing.
    ///
    /// - Parameter database: the path of the database if it is a file.
    package init(path: String, database: String? = nil) {
        self.path = path
        self.database = database
    }

    /// Names the file of a database and its journal in a folder.
    ///
    /// - Parameter database: its address.
    package init(folder: String, database: String, journal: String) {
        let digest = SHA256.hash(data: Array("\(database)\n\(journal)".utf8)).prefix(8)
        self.database = nil
        path = "\(folder)/history-\(Hex.encode(Array(digest))).json"
    }

    /// True if a gateway has served the same database with a journal before.
    package var knowsJournal: Bool { content.map { $0.file == databaseNumber } ?? false }

    private var databaseNumber: UInt64? { database.flatMap { try? DatabaseMark.number(of: $0) } }

    private struct Content: Codable {
        /// The inode number of the database file.
        var file: UInt64?
        var server: String?
        var commits: String
        var journal: String
        var feed: String
        var revision: Int
        var entry: Int
    }

    /// Reads the position; nil if the file is missing or damaged.
    func read() -> HistoryPosition? {
        guard let content else { return nil }
        return HistoryPosition(
            server: ServerPosition(server: content.server, commits: CommitPosition(content.commits)),
            journal: content.journal, feed: content.feed, revision: content.revision, entry: content.entry)
    }

    private var content: Content? {
        (try? Data(contentsOf: URL(filePath: path))).flatMap { try? JSONDecoder().decode(Content.self, from: $0) }
    }

    /// Writes the position atomically.
    ///
    /// - Throws: the error of the file system.
    func write(_ position: HistoryPosition) throws {
        let content = Content(
            file: databaseNumber, server: position.server.server, commits: position.server.commits.text,
            journal: position.journal,
            feed: position.feed, revision: position.revision, entry: position.entry)
        let url = URL(filePath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try JSONEncoder().encode(content).write(to: url, options: .atomic)
    }
}
