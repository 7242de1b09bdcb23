import MergeService
import RecordStore

/// Checks database and journal for `/readyz`, at most once a second.
actor ReadinessWatch {
    /// The result of a check.
    struct Seen: Sendable {
        /// The reason for which the database does not answer, or nil.
        var fault: StoreError?
        var size: (rows: Int, bytes: Int, lastDay: Int)?
        /// The counted transactions without a revision; nil if the journal is off or the count failed.
        var pending: Int?
        /// The reason for which the journal cannot be read, or nil.
        var journalFault: StoreError?
        /// The reason for which pushes cannot be written although the database answers, or nil.
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
    /// The number of checks.
    private(set) var looks = 0

    private static let freshness = Duration.seconds(1)

    /// - Parameters:
    ///   - patience: the timeout of the database.
    ///   - writes: counts pushes that failed because the database or journal was not writable.
    ///   - isPaused: true while even probes must not write.
    ///   - active: returns the active rules with the journal.
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

    /// Returns a result of the last second.
    ///
    /// Otherwise all callers wait for one check.
    func seen() async -> Seen {
        if let last, ContinuousClock.now - last.at < Self.freshness { return last.seen }
        if let look { return await look.value }
        looks += 1
        let former = last?.seen.writeFault
        let task = Task { [service, active, patience, writes, isPaused, pendingFloor] in
            let deadline = ContinuousClock.now.advanced(by: patience)
            let rules = active()
            var seen = await Self.look(at: service.engine, journal: rules?.journal, by: deadline)
            // A failed count does not affect readiness.
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

    /// Limits the time for which a probe delays pushes.
    private static let writePatience = Duration.seconds(1)

    /// Returns the reason for which pushes cannot be written, or nil.
    ///
    /// - Parameter former: the last reason, which is returned if the check is not conclusive.
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
