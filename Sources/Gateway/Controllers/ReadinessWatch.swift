import MergeService
import RecordStore

/// Checks database and journal for `/readyz`, at most once a second.
actor ReadinessWatch {
    struct Seen: Sendable {
        /// The reason for which the database does not answer.
        var fault: StoreError?
        var size: (rows: Int, bytes: Int, lastDay: Int)?
        /// The counted transactions without a revision, or nil.
        var pending: Int?
        /// The reason for which the journal cannot be read.
        var journalFault: StoreError?
        /// The reason for which pushes cannot be written although the database answers.
        var writeFault: StoreError?
    }

    private let service: MergeService
    private let active: @Sendable () -> ActiveRules?
    private let writes: WriteHealth
    private let isPaused: @Sendable () -> Bool
    private let pendingFloor: @Sendable () -> Int
    private let patience: Duration
    private var last: (seen: Seen, at: ContinuousClock.Instant)?
    private let look = SharedRun<Seen>()
    private(set) var looks = 0

    private static let freshness = Duration.seconds(1)

    /// - Parameters:
    ///   - patience: the timeout of the database.
    ///   - isPaused: true while even probes must not write.
    ///   - active: returns the active rules with the journal.
    ///   - pendingFloor: returns the row number up to which `pending` is not counted.
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

    /// Returns a result of the last second, or joins the current check.
    func seen() async -> Seen {
        if let last, ContinuousClock.now - last.at < Self.freshness { return last.seen }
        return await look.outcome { await self.check() }
    }

    private func check() async -> Seen {
        looks += 1
        let deadline = ContinuousClock.now.advanced(by: patience)
        let rules = active()
        var seen = await Self.look(at: service.engine, journal: rules?.journal, by: deadline)
        // A failed count does not affect readiness.
        if seen.fault == nil, seen.journalFault == nil {
            seen.pending = try? await rules?.journal?.countPending(after: pendingFloor(), deadline)
        }
        if seen.fault == nil, !isPaused(), let rules {
            seen.writeFault = await Self.writeFault(of: service, rules, writes: writes, or: last?.seen.writeFault)
        }
        if seen.fault == nil { await service.readUnreadableAgain(until: deadline) }
        last = (seen, .now)
        return seen
    }

    /// Limits the time for which a probe delays pushes.
    ///
    /// A new connection to a distant database needs some twenty round trips for it.
    private static let writePatience = Duration.seconds(3)

    /// Returns the reason for which pushes cannot be written, or nil.
    ///
    /// - Parameter former: the last reason, which is returned if the check is inconclusive.
    private static func writeFault(
        of service: MergeService, _ active: ActiveRules, writes: WriteHealth, or former: StoreError?
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
