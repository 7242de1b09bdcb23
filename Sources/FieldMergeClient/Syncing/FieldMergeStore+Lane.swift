import GRDB

/// The lane of large pushes: one request at a time, in parallel to the scheduler.
struct LargeLane {
    var task: Task<Void, Never>?
    /// The time of the next try, by the monotonic clock; nil if the last try did not fail.
    var due: Double?
    var backoff = Backoff()
    /// The results since the last `sync()`.
    var report = SyncReport()
    var waiting: [CheckedContinuation<Void, Never>] = []
}

extension FieldMergeStore {
    /// Starts the lane if a large push can be sent, and the lane does not wait.
    func startLane() async throws {
        guard lane.task == nil, (lane.due ?? 0) <= clock.monotonic() else { return }
        guard try await file.read({ try $0.hasUnsent(.large) }) else { return }
        guard lane.task == nil, !sync.isClosing, lease.holders > 0 else { return }
        lease.holders += 1
        lane.due = nil
        lane.task = Task {
            await runLane()
            await endLane()
        }
        bells.ring(.status)
    }

    /// Has the next event start the lane, whatever failed before.
    func resetLane() {
        lane.due = nil
        lane.backoff = Backoff()
    }

    private func runLane() async {
        do {
            while !Task.isCancelled, try await sendLarge() { lane.backoff = Backoff() }
        } catch {
            guard !Task.isCancelled else { return }
            lane.report.error = "\((error as? ConnectionLost)?.reason ?? "\(error)")"
            lane.due = clock.monotonic() + lane.backoff.next(using: &sync.generator)
        }
    }

    private func endLane() async {
        await tellHandlers()
        lane.task = nil
        try? await releaseLease()
        restLane()
        bells.ring(.status)
        if lane.due == nil { tell(.edit) } else { wake() }
    }

    /// Resumes the tasks that wait for the lane.
    private func restLane() {
        let waiting = lane.waiting
        lane.waiting = []
        for continuation in waiting { continuation.resume() }
    }

    /// Sends a large push and stores its answer; returns false if there is none.
    private func sendLarge() async throws -> Bool {
        await tellHandlers()
        let batch = try await frozen(BatchLimits(lane: .large))
        let pushes = batch.filter { !$0.isKept }
        guard let push = pushes.first else { return false }
        let answer = try await laneAnswer(to: body(of: batch, nil))
        if answer.status == 200 || answer.status == 207, answer.json["results"].arrayValue != nil {
            let tally = try await settle(pushes, by: answer.json)
            lane.report.add(tally.report)
            if tally.isAgain { throw ConnectionLost(reason: "a large push has to be sent again") }
            // The scheduler reads the rules, or takes the snapshot.
            return !tally.needsRules && !tally.isOtherHistory
        }
        if answer.saysNothingWritten {
            try await write("doubt") { try $0.noteNothingWritten([push]) }
        }
        guard Self.isAboutThePushes(answer), batch.count == 1 else {
            lane.backoff.retryAfter = answer.retryAfter(now: clock.now())
            throw ConnectionLost(reason: "\(answer.status): \(answer.problem?["detail"].stringValue ?? "no results")")
        }
        let problem = answer.problem ?? Self.tooLarge
        try await write("refuse") { try $0.storeRefusal(push, problem, results: []) }
        lane.report.refused += 1
        return true
    }

    private func laneAnswer(to body: [UInt8]) async throws -> WholeAnswer {
        var (response, token) = try await send("POST", "/v1/sync?by=true", body: body)
        if response.status == 401 {
            try await renewToken(refused: token)
            (response, token) = try await send("POST", "/v1/sync?by=true", body: body)
        }
        return try await Self.whole(response)
    }

    /// Waits until no large push is under way, but not beyond a deadline.
    func laneRests(until deadline: Double?) async {
        let timer = deadline.map { deadline in
            Task {
                try await clock.sleep(seconds: max(0, deadline - clock.monotonic()))
                leaveLane()
            }
        }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if lane.task == nil || Task.isCancelled {
                    continuation.resume()
                } else {
                    lane.waiting.append(continuation)
                }
            }
        } onCancel: {
            Task { await leaveLane() }
        }
    }

    /// Ends the wait for the lane, which continues only if the store syncs automatically.
    private func leaveLane() {
        if background == nil { lane.task?.cancel() }
        restLane()
    }
}
