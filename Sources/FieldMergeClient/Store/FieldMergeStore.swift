import GRDB
public import Foundation
import Synchronization

/// The records of one user of one server, in a file on the device, with unsent edits.
public actor FieldMergeStore {
    nonisolated let file: StoreFile
    nonisolated let bells = Bells()
    nonisolated let readers = Mutex<[EventKind: EventReaders]>([:])
    nonisolated let forms = Mutex(OpenForms())
    nonisolated let liveQueries: LiveQueries
    nonisolated let slowQueries = Mutex<[SlowQuery]>([])
    nonisolated let transport: any Transport
    /// The server's address, without a slash at its end.
    nonisolated let server: String
    nonisolated let user: String
    nonisolated let client: String?
    nonisolated let device: String
    /// The user of the tokens, by the first answer that named it in `X-Who`.
    nonisolated let who: Mutex<String?>

    var sync: SyncState
    var tokens: TokenSource
    var handlers = EventHandlers()
    var background: Background?
    var lane = LargeLane()
    var lease = SyncLease()
    /// The outcomes of its edits, once the store was signed out of.
    var lastWords: Ledger.LastWords?

    nonisolated var context: LedgerContext { file.context }
    nonisolated var clock: any StoreClock { file.context.clock }

    init(_ file: StoreFile, _ options: Options, device: String, who: String?) {
        self.file = file
        self.device = device
        self.who = Mutex(who)
        server = options.server.absoluteString.trimmingSuffix("/")
        user = options.user
        client = options.client
        transport = options.transport ?? HTTPTransport(server: options.server)
        tokens = TokenSource(options.token)
        sync = SyncState(seed: options.seed)
        liveQueries = LiveQueries(file)
        file.keepIndexes(ringing: bells)
    }

    deinit { bells.finish() }

    /// The settings of a store.
    package struct Options: Sendable {
        let server: URL
        let user: String
        let client: String?
        let token: @Sendable () async throws -> String
        let transport: (any Transport)?
        let seed: UInt64?

        /// Takes settings.
        ///
        /// - Parameter seed: makes waits the same in each run of a test.
        package init(
            server: URL, user: String, client: String?, token: @escaping @Sendable () async throws -> String,
            transport: (any Transport)? = nil, seed: UInt64? = nil
        ) {
            self.server = server
            self.user = user
            self.client = client
            self.token = token
            self.transport = transport
            self.seed = seed
        }
    }

    /// Opens the store of a user on a server, or creates it, without a network.
    ///
    /// - Parameters:
    ///   - url: the store's file, one for each user; `:memory:` for a store in memory.
    ///   - server: the gateway's address, which may change between openings.
    ///   - user: the name of the user of the store.
    ///   - resources: the resources whose records are stored. Records of others are requested when they are read.
    ///   - keep: a subset by resource, such as `["orders": [.oneOf("order.status", ["open"])]]`: only records that match are
    ///     kept. The conditions are `equals`, `oneOf` and `range` on fields of root sections. All processes of a store keep
    ///     the subset of the process that opened it last.
    ///   - client: name and version of the app, such as `shop-ios/3.2`, sent as `X-Client`.
    ///   - indexes: paths of fields by resource, such as `["orders": ["order.status", "order.due"]]`, for queries that need not
    ///     read all records. They are built in the background, and dropped if this names others. nil leaves them as they are.
    ///   - search: paths of fields by resource that `search` of a query reads. They get an index as well.
    ///   - snapshot: a file to begin with, NDJSON or SQLite; of no effect once the store has synced.
    ///   - token: returns a bearer token when one is needed, and again when the gateway answers 401.
    /// - Throws: `FieldMergeError.wrongStore` if the file belongs to another user, `FieldMergeError.newerStore` for one of
    ///   a newer version, `FieldMergeError.badSnapshot` for a broken snapshot, `InvalidQuery` for a condition that `keep`
    ///   cannot have.
    public static func open(
        at url: URL, server: URL, user: String, resources: [String], indexes: [String: [String]]? = nil,
        search: [String: [String]]? = nil, keep: [String: [QueryCondition]] = [:], client: String? = nil,
        snapshot: URL? = nil,
        token: @escaping @Sendable () async throws -> String
    ) async throws -> FieldMergeStore {
        let options = Options(server: server, user: user, client: client, token: token)
        let context = LedgerContext(
            resources: resources, subset: try SubsetFilter(keep: keep),
            indexes: QueryIndexes(fields: indexes, search: search))
        return try await open(at: url, context, options, snapshot: snapshot)
    }

    /// The same with a clock and a transport of the caller's own.
    package static func open(
        at url: URL, _ context: LedgerContext, _ options: Options, snapshot: URL? = nil, isSafe: Bool = true
    ) async throws -> FieldMergeStore {
        for _ in 0..<triesToOpen {
            do {
                return try await openOnce(at: url, context, options: options, snapshot: snapshot, isSafe: isSafe)
            } catch is SignOutUnderWay {
                try await context.clock.sleep(seconds: 0.1)
            }
        }
        throw FieldMergeError.storeClosed
    }

    /// A sign-out ends within two seconds.
    private static let triesToOpen = 50

    private static func openOnce(
        at url: URL, _ context: LedgerContext, options: Options, snapshot: URL?, isSafe: Bool
    ) async throws -> FieldMergeStore {
        if let snapshot { try SnapshotReader.copy(snapshot, to: url) }
        let file = try StoreFile(at: url, context: context, isSafe: isSafe)
        do {
            let server = options.server.absoluteString.trimmingSuffix("/")
            let user = options.user
            let (device, _) = try await file.write("open") { try $0.claim(server: server, user: user) }
            // The file may have been deleted after it was opened.
            guard file.isThere else { throw SignOutUnderWay() }
            let who = try await file.read { try $0.meta("who").stringValue }
            if let snapshot, try await file.read({ try $0.feedPlace() }) == nil {
                try await SnapshotReader.load(snapshot, into: file)
            }
            return FieldMergeStore(file, options, device: device, who: who)
        } catch {
            file.close()
            throw error
        }
    }

    // MARK: Transactions

    /// Runs a transaction, and notifies observers of its changes.
    nonisolated func write<T: Sendable>(
        _ name: String, _ body: @escaping @Sendable (Ledger) throws -> T
    ) async throws -> T {
        let (value, effects) = try await file.write(name, body)
        liveQueries.note(effects)
        bells.ring(effects)
        if !effects.touched.isEmpty { await compareDrafts(effects.touched) }
        return value
    }
}

/// The sign that a sign-out is about to delete the file of a store.
struct SignOutUnderWay: Error {}

extension Ledger {
    /// Stores the store's owner, and prepares it for the resources to keep; returns the device's id.
    ///
    /// - Throws: `FieldMergeError.wrongStore` if it belongs to another, `SignOutUnderWay`.
    func claim(server: String, user: String) throws -> String {
        if let owner = try meta("signedOut").stringValue, !LedgerContext.hasEnded(owner) { throw SignOutUnderWay() }
        // The process of a sign-out ended before it could delete the file.
        try setMeta("signedOut", .null)
        let held = try meta("user").nonNull ?? .string(user)
        guard held == .string(user) else {
            throw FieldMergeError.wrongStore("this is the store of another user: \(held.stringValue ?? "")")
        }
        try setMeta("user", held)
        try setMeta("server", .string(server))
        if try meta("device").isNull { try setMeta("device", .string(UUID().uuidString.lowercased())) }
        // Earlier versions gave a push its key when it was sent.
        for row in try rows("SELECT seq FROM push WHERE state = 0 AND key IS NULL") {
            try write("UPDATE push SET key = ? WHERE seq = ?", [newKey(), row[0] as Int64])
        }
        try claimResources()
        try claimSubset()
        try prune()
        return try meta("device").stringValue ?? ""
    }

    private func claimResources() throws {
        let wanted = context.resources.map { JSONValue.array($0.map(JSONValue.string)) } ?? .null
        let held = try meta("resources")
        guard held != wanted else { return }
        // Records of earlier resources are in the store; records of new ones have to be read.
        let isLess = !wanted.isNull && (held.arrayValue.map { Set(wanted.arrayValue ?? []).isSubset(of: $0) } ?? true)
        if try feedPlace() != nil, !isLess {
            try setMeta("resnapshot", true)
            try setMeta("snapshot", .null)
        }
        try setMeta("resources", wanted)
        for row in try rows("SELECT DISTINCT resource FROM base") where !context.keeps(row[0]) {
            try write(
                "DELETE FROM base WHERE resource = ?1 AND NOT EXISTS (SELECT 1 FROM edit"
                    + " WHERE edit.resource = base.resource AND edit.key = base.key)", [row[0] as String])
        }
    }
}
