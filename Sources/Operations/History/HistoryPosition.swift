import MergeCore
import RecordStore

/// The server that a gateway is connected to.
package struct ServerPosition: Sendable, Hashable {
    /// The identity of the server, or of its Galera cluster; nil if the database is a file.
    package var server: String?
    /// The highest commits; empty if the server has no binary log.
    package var commits: CommitPosition

    /// Describes a server and its commits.
    package init(server: String?, commits: CommitPosition) {
        self.server = server
        self.commits = commits
    }
}

extension ServerPosition {
    init(in session: any StoreSession, _ dialect: any Dialect) throws(StoreError) {
        for question in dialect.serverPositions {
            let row: [Value]?
            do throws(StoreError) {
                row = try session.query(question).first
            } catch {
                // A server of another kind does not have these variables.
                guard error.kind == .other || error.kind == .schemaChanged else { throw error }
                continue
            }
            guard let row, case .text(let server)? = row.first else { continue }
            var commits = ""
            if row.count > 1, case .text(let text) = row[1] { commits = text.string }
            self.init(server: server.string, commits: CommitPosition(commits))
            return
        }
        self.init(server: nil, commits: CommitPosition(""))
    }

    /// The form in the journal, without commits if they are longer than the journal's column.
    var text: String {
        let (name, commits) = (server ?? "", commits.text)
        return name + "\n" + (name.utf8.count + commits.utf8.count < 250 ? commits : "")
    }

    /// Decodes `text`; nil if no gateway has stored one.
    init?(text: String?) {
        guard let text else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        self.init(
            server: lines[0].isEmpty ? nil : lines[0], commits: CommitPosition(lines.count > 1 ? lines[1] : ""))
    }
}

/// The position of data and journal in their history, read at once.
package struct HistoryPosition: Sendable, Hashable {
    /// The server of the data.
    package var server: ServerPosition
    /// A hash of the journal's secret, which identifies the journal.
    package var journal: String
    /// The id of the feed.
    package var feed: String
    /// The highest revision.
    package var revision: Int
    /// The highest number of an entry.
    package var entry: Int

    /// Bundles a position.
    package init(server: ServerPosition, journal: String, feed: String, revision: Int, entry: Int) {
        self.server = server
        self.journal = journal
        self.feed = feed
        self.revision = revision
        self.entry = entry
    }

    /// The number of feeds in the journal before this one.
    package var epoch: Int { revision / FeedTables.epochSize }

    /// True if the journal is new: no client has read its first feed.
    var isFresh: Bool { epoch == 0 && revision <= FeedTables.beginning && entry == 0 }
}
