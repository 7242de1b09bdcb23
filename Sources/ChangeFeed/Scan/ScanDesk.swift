import MergeCore
import MergeService
import RecordStore

/// The lease of the scan in the journal.
struct ScanDesk: Sendable {
    let journal: Journal
    let gateway: String

    /// The seconds after which a lease expires without renewal.
    static let seconds = 5
    static let patience = Duration.seconds(10)

    private var feed: FeedTables { journal.tables.feed }
    private var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    /// Acquires the lease if no other gateway has it.
    func take() async throws(StoreError) -> ScanState {
        let before = try await journal.engine.read(deadline: deadline) { [feed] session throws(StoreError) in
            try session.query(feed.scanState(locking: false)).first.flatMap { feed.scanState($0) }
        }
        let mayBeFree = try await journal.engine.read(deadline: deadline) { [feed] session throws(StoreError) in
            try !session.query(feed.freeScan).isEmpty
        }
        if let before, !mayBeFree { return before }
        return try await write { [feed, gateway] session throws(StoreError) in
            _ = try session.execute(feed.beginScan)
            _ = try session.execute(feed.takeScan(gateway, seconds: Self.seconds))
        }
    }

    /// Renews the lease and stores the progress.
    func keep(_ lease: ScanLease, _ progress: ScanProgress) async throws(StoreError) -> ScanState {
        try await write { [feed] session throws(StoreError) in
            _ = try session.execute(feed.keepScan(lease, seconds: Self.seconds, progress))
        }
    }

    /// Renews the lease, whose next loss the next transaction of the scan detects.
    func renew(_ lease: ScanLease) async throws(StoreError) {
        try await journal.engine.write(deadline: deadline) { [feed] session throws(StoreError) in
            _ = try session.execute(feed.renewScan(lease, seconds: Self.seconds))
            return .commit(())
        }
    }

    /// Returns the time since which foreign changes are detected; nil before the first pass over each section has
    /// ended.
    func since(_ units: [ScanUnit]) async throws(StoreError) -> DateTime? {
        let rows = try await journal.engine.read(deadline: deadline) { [feed] session throws(StoreError) in
            try session.query(feed.sectionsSince)
        }
        var known: [String: DateTime] = [:]
        for (resource, section, since) in rows.compactMap({ feed.sectionSince($0) }) {
            known[ScanUnit.name(of: resource, section)] = since
        }
        let times = units.compactMap { known[$0.name] }
        return times.count == units.count ? times.max() : nil
    }

    private func write(
        _ change: @escaping @Sendable (any StoreSession) throws(StoreError) -> Void
    ) async throws(StoreError) -> ScanState {
        try await journal.engine.write(deadline: deadline) { [feed] session throws(StoreError) in
            try change(session)
            guard let state = try session.query(feed.scanState(locking: false)).first.flatMap({ feed.scanState($0) })
            else { throw StoreError(.schemaChanged, "the journal “\(feed.schema)” has lost its table “scan”") }
            return .commit(state)
        }
    }
}
