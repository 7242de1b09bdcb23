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
        /// The reason for which nothing can be pushed, although the database answers; nil if pushes can be written.
        var writeFault: StoreError?
    }

    private let service: MergeService
    private let active: @Sendable () -> ActiveRules?
    private let writes: WriteHealth
    private let isPaused: @Sendable () -> Bool
    private let pendingFloor: @Sendable () -> Int
    private let patience: Duration
    private var last: (seen: Seen, at: ContinuousClock.Instant)?
    private var look: Task<Seen, Never>?
    /// Counts how often the database was asked.
    private(set) var looks = 0

    private static let freshness = Duration.seconds(1)

    /// - Parameters:
    ///   - patience: the time that the database has to answer.
    ///   - writes: whether a push has just failed because the database or the journal could not be written.
    ///   - isPaused: true while nothing is to be written, not even by a probe.
    ///   - active: the rules and the journal at the moment.
    ///   - pendingFloor: rows of `pending` up to this number are not counted.
    init(
        _ service: MergeService, patience: Duration, writes: WriteHealth = WriteHealth(),
        isPaused: @escaping @Sendable () -> Bool = { false }, pendingFloor: @escaping @Sendable () -> Int,
        active: @escaping @Sendable () -> ActiveRules?
    ) {
        self.isPaused = isPaused
        self.pendingFloor = pendingFloor
        self.service = service
        self.patience = patience
        self.writes = writes
        self.active = active
    }

    /// Returns what was seen less than a second ago; else everyone who asks waits for one and the same look.
    func seen() async -> Seen {
        if let last, ContinuousClock.now - last.at < Self.freshness { return last.seen }
        if let look { return await look.value }
        looks += 1
        let former = last?.seen.writeFault
        let task = Task { [service, active, patience, writes, isPaused, pendingFloor] in
            let deadline = ContinuousClock.now.advanced(by: patience)
            let rules = active()
            var seen = await Self.look(at: service.engine, journal: rules?.journal, by: deadline)
            // That it cannot be counted says nothing of whether requests are served.
            if seen.fault == nil, seen.journalFault == nil {
                seen.pending = try? await rules?.journal?.countPending(after: pendingFloor(), deadline)
            }
            if seen.fault == nil, !isPaused(), let rules {
                seen.writeFault = await Self.writeFault(of: service, rules, writes, or: former)
            }
            return seen
        }
        look = task
        let seen = await task.value
        look = nil
        last = (seen, .now)
        return seen
    }

    /// A probe holds no push up for longer.
    private static let writePatience = Duration.seconds(1)

    /// Returns the reason for which nothing can be pushed.
    ///
    /// - Parameter former: the reason at the last look, which goes on if nothing can be found out.
    private static func writeFault(
        of service: MergeService, _ active: ActiveRules, _ writes: WriteHealth, or former: StoreError?
    ) async -> StoreError? {
        do throws(StoreError) {
            let failures = writes.failures
            try await service.checkWritable(
                active, needsSpace: failures > 0, until: .now.advanced(by: writePatience))
            writes.settle(failures)
            return nil
        } catch {
            switch error.kind {
            case .busy, .locked, .fileLocked, .serialization, .overloaded: return former
            default: return error
            }
        }
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
