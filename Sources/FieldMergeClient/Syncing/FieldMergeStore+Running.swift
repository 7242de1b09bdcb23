import GRDB
import Synchronization

/// Marks code inside of a sync, such as a handler of the app, which cannot wait for the end of that sync.
enum SyncTurn {
    @TaskLocal static var isInside = false
}

/// The lease of this opening of the store, which the scheduler and the lane share.
struct SyncLease {
    /// The scheduler and the lane while they need it.
    var holders = 0
    /// The write with which it ended last.
    var end: Task<Void, any Error>?
    var heartbeat: Task<Void, any Error>?
}

extension FieldMergeStore {
    /// Runs the actions of the table for an event, and for the events that follow, until nothing is under way.
    ///
    /// One caller of one process runs at a time, by a lease in the store; other callers wait.
    func run(_ event: Scheduler.Event, deadline seconds: Double? = nil) async throws -> SyncReport {
        if sync.isClosing { throw FieldMergeError.storeClosed }
        if sync.isRunning, event == .sync || event == .news { sync.isNoted = true }
        let deadline = seconds.map { clock.monotonic() + $0 }
        if SyncTurn.isInside { return try await reported(SyncReport(error: "a sync is under way")) }
        while sync.isRunning {
            if let deadline, clock.monotonic() >= deadline {
                return try await reported(SyncReport(error: "another sync is under way"))
            }
            await withCheckedContinuation { sync.waitingForTurn.append($0) }
        }
        if sync.isClosing { throw FieldMergeError.storeClosed }
        sync.isRunning = true
        defer { endTurn() }
        sync.deadline = deadline
        sync.report = SyncReport()
        do {
            guard try await acquireLease(until: deadline) else {
                return try await reported(SyncReport(error: "another process is syncing"))
            }
            try await followWithLease(event)
            return try await reported(sync.report)
        } catch {
            settle(after: error)
            throw error
        }
    }

    private func followWithLease(_ event: Scheduler.Event) async throws {
        do {
            try await follow(event)
        } catch {
            // The first error counts. Without a heartbeat, the lease expires.
            try? await releaseLease()
            throw error
        }
        try await releaseLease()
    }

    /// Takes the lease, which the scheduler and the lane share.
    private func acquireLease(until deadline: Double?) async throws -> Bool {
        if lease.holders == 0 {
            // The end of the last lease must not delete the new lease.
            _ = await lease.end?.result
            guard try await takeLease(until: deadline) else { return false }
        }
        lease.holders += 1
        if lease.heartbeat == nil { lease.heartbeat = beat() }
        return true
    }

    /// Releases the lease once neither scheduler nor lane needs it.
    func releaseLease() async throws {
        lease.holders -= 1
        guard lease.holders == 0 else { return }
        lease.heartbeat?.cancel()
        lease.heartbeat = nil
        let file = file
        let end = Task {
            do {
                _ = try await file.write("lease ends") { try $0.dropLease() }
            } catch is DatabaseError {
                // The lease is dead without a heartbeat.
            }
            file.context.isLeaseUnstored.withLock { $0 = false }
        }
        lease.end = end
        try await end.value
    }

    /// Resets the scheduler for the next event after an error, for example a full disk.
    private func settle(after error: any Error) {
        if sync.isClosing { return settle(into: .closed) }
        if error is CancellationError { return settle(into: .idle) }
        settle(into: .waiting)
        note(error: "\(error)", nil)
        wait(sync.nextWait())
    }

    private func endTurn() {
        sync.isRunning = false
        sync.deadline = nil
        let waiting = sync.waitingForTurn
        sync.waitingForTurn = []
        for continuation in waiting { continuation.resume() }
    }

    func reported(_ report: SyncReport) async throws -> SyncReport {
        var report = report
        report.phase = phase
        report.unsent = try await file.read { try $0.counts().unsent }
        return report
    }

    private func takeLease(until deadline: Double?) async throws -> Bool {
        while try await !isLeaseTaken() {
            if let deadline, clock.monotonic() >= deadline { return false }
            if sync.isClosing { throw FieldMergeError.storeClosed }
            try await Task.sleep(for: .milliseconds(50))
        }
        return true
    }

    /// Acquires the lease; if the store cannot be written, no other process can acquire it either.
    private func isLeaseTaken() async throws -> Bool {
        do {
            let isTaken = try await file.write("lease") { try $0.takeLease() }.0
            context.isLeaseUnstored.withLock { $0 = false }
            return isTaken
        } catch let error as DatabaseError where error.isOfDisk {
            let isFree = try await file.read { try $0.isLeaseFree() }
            context.isLeaseUnstored.withLock { $0 = isFree }
            return isFree
        }
    }

    /// Says now and then that the sync under way is alive, to other processes.
    private func beat() -> Task<Void, any Error>? {
        guard file.url != nil else { return nil }
        let file = file
        return Task {
            while true {
                try await Task.sleep(for: .seconds(Ledger.beatSeconds))
                _ = try await file.write("beat") { try $0.beat() }
            }
        }
    }

    private func follow(_ event: Scheduler.Event) async throws {
        var next: Scheduler.Event? = event
        while let event = next {
            do {
                next = try await handle(event)
            } catch let reason as SyncState.AbortReason {
                switch reason {
                case .offline: next = .offline
                case .closed: throw FieldMergeError.storeClosed
                case .cancelled: throw CancellationError()
                case .deadline:
                    settle(into: .idle)
                    sync.report.error = "out of time"
                    next = nil
                }
            } catch is LeaseLost {
                // The other process sends the same bytes under the same keys.
                settle(into: .idle)
                sync.report.error = "another process has taken over"
                next = nil
            }
        }
    }

    private func settle(into phase: SyncPhase) {
        sync.phase = phase
        sync.due = nil
        sync.nextTry = nil
        bells.ring(.status)
    }

    /// Runs the actions of an event; returns the next event, nil at rest.
    private func handle(_ event: Scheduler.Event) async throws -> Scheduler.Event? {
        let conditions = try await conditions(event)
        let row = Scheduler.decide(sync.phase, event, under: conditions)
        if event.isAnswer {
            sync.lastAnswer = event
            if event == .history || event == .settled { sync.isOtherHistory = event == .history }
            if event == .settled || event == .page { sync.report.error = nil }
        }
        enter(row.state)
        if event == .online || event == .sync { resetLane() }
        if !conditions.contains(.unsent), [.idle, .pulling].contains(row.state) { try await startLane() }
        for action in row.actions {
            if let next = try await perform(action) { return next }
        }
        return nil
    }

    private func enter(_ phase: SyncPhase) {
        if [.idle, .pulling, .pushing].contains(phase), phase != sync.phase {
            if phase == .idle {
                sync.error = nil
                sync.problem = nil
            }
            sync.message = nil
            sync.link = nil
        }
        if phase != sync.phase { bells.ring(.status) }
        sync.phase = phase
        if ![.waiting, .needsAuth, .needsUpgrade].contains(phase) {
            sync.due = nil
            sync.nextTry = nil
        }
    }

    private func conditions(_ event: Scheduler.Event) async throws -> Set<Scheduler.Condition> {
        let (hasUnsent, hasPlace) = try await file.read { (try $0.hasUnsent(), try $0.feedPlace() != nil) }
        var conditions: Set<Scheduler.Condition> = []
        if hasUnsent { conditions.insert(.unsent) }
        if sync.lastHadMore || sync.isNoted || !(hasPlace || event == .page) { conditions.insert(.more) }
        if event == sync.lastAnswer || (event == .history && sync.isOtherHistory) { conditions.insert(.again) }
        if let fresh = sync.freshAfter, sync.usedToken >= fresh { conditions.insert(.fresh) }
        return conditions
    }

    private func perform(_ action: Scheduler.Action) async throws -> Scheduler.Event? {
        if sync.isClosing { throw SyncState.AbortReason.closed }
        switch action {
        case .push, .pull, .askToken: return try await requested(action)
        case .readRules: try await write("note") { try $0.setMeta("rulesDue", true) }
        case .resnapshot:
            try await write("note") { ledger in
                try ledger.setMeta("resnapshot", true)
                try ledger.setMeta("snapshot", .null)
            }
        case .single: sync.isSingle = true
        case .note: sync.isNoted = true
        case .schedule: wait(sync.nextWait())
        case .scheduleLong: wait(Backoff.longestWait)
        case .resetBackoff: sync.backoff.waits = 0
        case .cancelTimer, .keepUp, .abort:
            // `start()` waits by `due` and listens while idle; the sender of the event has aborted a request.
            break
        }
        return nil
    }

    private func wait(_ seconds: Double) {
        sync.due = clock.monotonic() + seconds
        sync.nextTry = clock.now() + seconds
        bells.ring(.status)
    }

    private func askToken() async throws -> Scheduler.Event? {
        sync.freshAfter = sync.usedToken + 1
        try await renewToken(refused: sync.usedToken)
        return .token
    }

    /// Makes a request that can be aborted; a failure on the way is a lost answer.
    private func requested(_ action: Scheduler.Action) async throws -> Scheduler.Event? {
        if let deadline = sync.deadline, clock.monotonic() >= deadline { throw SyncState.AbortReason.deadline }
        let request = Task {
            switch action {
            case .push: try await push()
            case .askToken: try await askToken()
            default: try await pull()
            }
        }
        sync.request = request
        let timer = sync.deadline.map { deadline in
            Task {
                try await clock.sleep(seconds: max(0, deadline - clock.monotonic()))
                abort(.deadline)
            }
        }
        defer {
            timer?.cancel()
            sync.request = nil
            sync.abortReason = nil
        }
        do {
            let event = try await withTaskCancellationHandler {
                try await request.value
            } onCancel: {
                request.cancel()
            }
            await tellHandlers()
            return event
        } catch {
            if let reason = sync.abortReason { throw reason }
            if Task.isCancelled { throw SyncState.AbortReason.cancelled }
            if let error = error as? ConnectionLost { return lost(error.reason) }
            if case FieldMergeError.rulesUnknown = error { return lost("the rules are not known yet") }
            throw error
        }
    }

    /// Breaks off the request under way.
    func abort(_ reason: SyncState.AbortReason) {
        guard let request = sync.request else { return }
        sync.abortReason = reason
        request.cancel()
    }
}
