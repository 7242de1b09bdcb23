import MergeService
import RecordStore

/// Looks at the database and the journal for `/readyz`, at most once a second however often it is asked.
actor ReadinessWatch {
    /// The state at the last look.
    struct Seen: Sendable {
        /// The reason for which the database does not answer; nil where it does.
        var fault: StoreError?
        var size: (rows: Int, bytes: Int, lastDay: Int)?
        /// Transactions whose changes have no revision yet, as far as they are counted; nil where there is no journal.
        var pending: Int?
        /// The reason for which the journal cannot be read; nil where it can, or where there is none.
        var journalFault: StoreError?
    }

    private let engine: any RecordEngine
    private let journal: @Sendable () -> Journal?
    private let pendingFloor: @Sendable () -> Int
    private let patience: Duration
    private var last: (seen: Seen, at: ContinuousClock.Instant)?
    private var look: Task<Seen, Never>?
    /// Counts how often the database was asked.
    private(set) var looks = 0

    private static let freshness = Duration.seconds(1)

    /// - Parameters:
    ///   - patience: the time that the database has to answer.
    ///   - journal: that which is kept at the moment.
    ///   - pendingFloor: rows of `pending` up to this number are not counted.
    init(
        _ engine: any RecordEngine, patience: Duration, pendingFloor: @escaping @Sendable () -> Int,
        journal: @escaping @Sendable () -> Journal?
    ) {
        self.pendingFloor = pendingFloor
        self.engine = engine
        self.patience = patience
        self.journal = journal
    }

    /// Returns what was seen less than a second ago; else everyone who asks waits for one and the same look.
    func seen() async -> Seen {
        if let last, ContinuousClock.now - last.at < Self.freshness { return last.seen }
        if let look { return await look.value }
        looks += 1
        let task = Task { [engine, journal, patience, pendingFloor] in
            let deadline = ContinuousClock.now.advanced(by: patience)
            var seen = await Self.look(at: engine, journal: journal(), by: deadline)
            // That it cannot be counted says nothing of whether requests are served.
            if seen.fault == nil, seen.journalFault == nil {
                seen.pending = try? await journal()?.countPending(after: pendingFloor(), deadline)
            }
            return seen
        }
        look = task
        let seen = await task.value
        look = nil
        last = (seen, .now)
        return seen
    }

    private static func look(
        at engine: any RecordEngine, journal: Journal?, by deadline: ContinuousClock.Instant
    ) async -> Seen {
        var seen = Seen()
        do {
            try await engine.ping(deadline: deadline)
        } catch {
            seen.fault = error
            return seen
        }
        do {
            seen.size = try await journal?.size(deadline) ?? nil
        } catch {
            seen.journalFault = error
        }
        return seen
    }
}
