package import ChangeFeed
internal import Crypto
package import Logging
import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Detects that the data or the journal went back in time or was replaced, and then begins a new feed.
///
/// The highest position is in this process, in a file, and, for the server's part, in the journal. These copies can go
/// back separately.
package final class HistoryGuard: Sendable {
    private let engine: any RecordEngine
    private let file: HistoryFile?
    private let logger: Logger
    private let memory: Mutex<HistoryMemory>
    private let state = Mutex(State())

    private struct State {
        var last: (reason: String, at: ContinuousClock.Instant)?
        var changes = 0
        /// The number of consecutive checks that found a change.
        var suspicions = 0
        /// The inode numbers of the database and the journal when they were opened first.
        var files: [String: UInt64] = [:]
        var isFileWritable = true
    }

    private static let patience = Duration.seconds(10)
    /// The number of checks that must find a change in a cluster.
    ///
    /// Its nodes may lag for a moment. Meanwhile no revision is assigned.
    private static let mostSuspicions = 5

    /// - Parameter file: nil keeps the position in this process only.
    package init(engine: any RecordEngine, file: HistoryFile? = nil, logger: Logger) {
        self.engine = engine
        self.file = file
        self.logger = logger
        memory = Mutex(HistoryMemory(highest: file?.read()))
    }

    /// The number of changes of the history that this process has detected.
    package var changes: Int { state.withLock { $0.changes } }

    /// A sentence for operators on a change of the last hour; nil if there was none.
    package var trouble: String? {
        guard let last = state.withLock({ $0.last }), .now - last.at < .seconds(3_600) else { return nil }
        return "the history of the database has changed, so a new feed began: \(last.reason)"
    }

    /// Compares the history with the highest known position, and begins a new feed if the history differs.
    ///
    /// - Parameter confirmed: the feed up to its last durable revision; nil if none is known.
    /// - Parameter isStart: acts at the first check, also in a cluster.
    /// - Returns: true if the journal must be opened again, because its history or its secret has changed.
    @discardableResult
    package func check(
        _ journal: Journal, confirmed: FeedState? = nil, isStart: Bool = false
    ) async throws(StoreError) -> Bool {
        let (found, noted) = try await position(of: journal)
        let known = memory.withLock { $0.highest }
        guard found.change(since: known, noted: noted) != nil else {
            let isOther = known.map { $0.journal != found.journal } ?? false
            if isOther { note(.otherJournal) }
            try await remember(found, confirmed: confirmed, noted: noted, in: journal)
            state.withLock { $0.suspicions = 0 }
            return isOther
        }
        let suspicions = state.withLock { state in
            state.suspicions += 1
            return state.suspicions
        }
        let isCluster = found.server.server?.hasPrefix("cluster") ?? false
        guard isStart || !isCluster || suspicions >= Self.mostSuspicions else { return false }
        state.withLock { $0.suspicions = 0 }
        try await beginAnew(journal)
        return true
    }

    /// Begins a new feed unless another gateway has done so.
    private func beginAnew(_ journal: Journal) async throws(StoreError) {
        let server = journal.isTogether ? nil : try await serverPosition()
        let known = memory.withLock { $0.highest }
        let change = try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
            // Under the counter's lock, no revision is assigned and no other gateway begins a feed.
            _ = try session.query(journal.tables.feed.lock)
            let (found, noted) = try Self.position(of: journal, server: server, in: session)
            guard let change = found.change(since: known, noted: noted) else { return .rollback(HistoryChange?.none) }
            let feed = journal.tables.feed
            for statement in feed.beginAnew(JournalOpener.newFeedID(), above: known?.epoch ?? 0) {
                _ = try session.execute(statement)
            }
            var notes = journal.tables.note(position: found.server.text)
            if change.losesKeys { notes += journal.tables.setKeysSince(try journal.tables.moment(in: session)) }
            for note in notes { _ = try session.execute(note) }
            return .commit(change)
        }
        let (found, _) = try await position(of: journal)
        memory.withLock { $0 = HistoryMemory(highest: found) }
        save(found)
        guard let change else { return }
        note(change)
    }

    /// Reports an empty journal, which has a new feed already.
    private func note(_ fault: HistoryFault) { note(HistoryChange(faults: [fault], losesKeys: true)) }

    private func note(_ change: HistoryChange) {
        state.withLock { state in
            state.last = (change.reason, .now)
            state.changes += 1
        }
        let keys =
            change.losesKeys ? " Keys of earlier pushes may be gone, so such pushes are refused (key-expired)." : ""
        logger.error(
            """
            the history of the database has changed. \(change.reason) A new feed begins, and every client takes a \
            snapshot.\(keys)
            """)
    }

    private var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    // MARK: Files

    /// Checks that this process has opened the current files of the database and the journal.
    ///
    /// A process continues to write to a file that was replaced, and these writes are lost.
    ///
    /// - Throws: `StoreError` if a file was replaced.
    package func checkFiles(_ journal: Journal) async throws(StoreError) {
        var files: [String: UInt64] = [:]
        // A missing file cannot be written, which the readiness of the gateway reports.
        if engine.dialect.isFile {
            let mark = try await DatabaseMark(of: engine, deadline: deadline)
            files[mark.name] = try? DatabaseMark.number(of: mark.name)
        }
        let dialect = journal.tables.dialect
        if let question = dialect.file(ofSchema: journal.tables.schema),
            let path = try await DatabaseMark.text(question, in: journal.engine, deadline: deadline), !path.isEmpty
        {
            files[path] = try? DatabaseMark.number(of: path)
        }
        let replaced = state.withLock { state in
            let replaced = files.first { path, number in state.files[path].map { $0 != number } ?? false }
            if replaced == nil { state.files.merge(files) { first, _ in first } }
            return replaced
        }
        guard let replaced else { return }
        throw StoreError(.other, "the file \(replaced.key) was replaced while the gateway ran")
    }

    // MARK: The position

    private func position(
        of journal: Journal
    ) async throws(StoreError) -> (found: HistoryPosition, noted: ServerPosition?) {
        let server = journal.isTogether ? nil : try await serverPosition()
        return try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
            try Self.position(of: journal, server: server, in: session)
        }
    }

    private func serverPosition() async throws(StoreError) -> ServerPosition {
        try await engine.read(deadline: deadline) { [engine] session throws(StoreError) in
            try ServerPosition(in: session, engine.dialect)
        }
    }

    /// - Parameter server: the position of the data's server; nil if the journal is on the same server.
    private static func position(
        of journal: Journal, server: ServerPosition?, in session: any StoreSession
    ) throws(StoreError) -> (found: HistoryPosition, noted: ServerPosition?) {
        let tables = journal.tables
        guard let place = tables.historyPosition(try session.query(tables.historyPosition).first) else {
            throw StoreError(.schemaChanged, "the journal “\(tables.schema)” has no feed or no secret")
        }
        let current: ServerPosition
        if let server { current = server } else { current = try ServerPosition(in: session, tables.dialect) }
        let found = HistoryPosition(
            server: current, journal: digest(place.secret), feed: place.feed, revision: place.revision,
            // Recovery deletes entries of a write-ahead journal.
            entry: journal.isTogether ? place.entry : 0)
        return (found, ServerPosition(text: place.noted))
    }

    /// Hashes the secret, which only the journal contains.
    private static func digest(_ secret: String) -> String {
        Hex.encode(Array(SHA256.hash(data: Array(secret.utf8)).prefix(8)))
    }

    // MARK: Storing the position

    /// - Parameter confirmed: the feed up to its last durable revision; nil if none is known.
    private func remember(
        _ found: HistoryPosition, confirmed: FeedState?, noted: ServerPosition?, in journal: Journal
    ) async throws(StoreError) {
        let (former, now) = memory.withLock { memory in
            let former = memory.highest
            return (former, memory.advance(to: found, confirmed: confirmed))
        }
        // On the same server, the journal goes back together with the data. So only the server's identity counts there.
        let isNoted =
            journal.isTogether ? noted?.server == now.server.server : noted?.text == now.server.text
        if now.server.server != nil, !isNoted {
            try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
                for note in journal.tables.note(position: now.server.text) { _ = try session.execute(note) }
                return .commit(())
            }
        }
        if former != now { save(now) }
    }

    private func save(_ position: HistoryPosition) {
        guard let file else { return }
        do {
            // Another gateway on this machine may use the same file.
            try file.write(file.read().map { position.union($0) } ?? position)
            state.withLock { $0.isFileWritable = true }
        } catch {
            let isNew = state.withLock { state in
                defer { state.isFileWritable = false }
                return state.isFileWritable
            }
            guard isNew else { return }
            logger.warning(
                """
                the file \(file.path) cannot be written, so a restore of the database while no gateway runs is not \
                detected; set --state
                """)
        }
    }
}
