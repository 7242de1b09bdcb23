/// The work of `start()`: a task that syncs when there is a reason, and one that listens for changes.
struct Background {
    var reasons: Set<Scheduler.Event> = [.sync]
    var sleeper: CheckedContinuation<Void, Never>?
    var tasks: [Task<Void, Never>] = []

    /// The seconds between two checks for writes of another process.
    static let lookSeconds = 2.0
    static let listenSeconds = 50.0
    static let longestPause = 60.0

    /// Returns the first reason.
    mutating func next() -> Scheduler.Event? {
        for reason in [Scheduler.Event.token, .online, .offline, .sync, .edit, .news] where reasons.contains(reason) {
            reasons.remove(reason)
            if reason == .sync { reasons.remove(.news) }
            return reason
        }
        return nil
    }
}

extension FieldMergeStore {
    /// Has the store sync from now on, whenever there is a reason.
    ///
    /// - Throws: `FieldMergeError.storeClosed`.
    public func start() async throws {
        guard !sync.isClosing else { throw FieldMergeError.storeClosed }
        guard background == nil else { return }
        sync.knownEdits = try await file.read { try $0.editCount() }
        guard background == nil, !sync.isClosing else { return }
        background = Background()
        background?.tasks = [
            Task { [weak self] in
                while let self, await self.work() {}
            },
            Task { [weak self] in
                var failures = 0
                while let self, await self.listen(&failures) {}
            },
        ]
    }

    /// Gives the scheduler an event, soon.
    func tell(_ reason: Scheduler.Event) {
        background?.reasons.insert(reason)
        wake()
    }

    func wake() {
        let sleeper = background?.sleeper
        background?.sleeper = nil
        sleeper?.resume()
    }

    /// Runs the next reason, or waits; false if the store is closed.
    private func work() async -> Bool {
        guard background != nil, !sync.isClosing else { return false }
        if let reason = background?.next() {
            await run(quietly: reason)
            return true
        }
        let left = sync.due.map { $0 - clock.monotonic() }
        if let left, left <= 0 {
            sync.due = nil
            await run(quietly: .timer)
            return true
        }
        let laneLeft = lane.due.map { $0 - clock.monotonic() }
        if let laneLeft, laneLeft <= 0 {
            lane.due = nil
            await run(quietly: .news)
            return true
        }
        await rest(min(left ?? Background.lookSeconds, laneLeft ?? Background.lookSeconds, Background.lookSeconds))
        await lookForOthers()
        return true
    }

    private func run(quietly event: Scheduler.Event) async {
        do {
            _ = try await run(event)
        } catch {
            // For example a full disk. The status shows it, and the next try follows.
            guard !sync.isClosing else { return }
            note(error: "\(error)", nil)
            bells.ring(.status)
            await rest(5)
            tell(.sync)
        }
    }

    private func rest(_ seconds: Double) async {
        guard background != nil, background?.reasons.isEmpty == true else { return }
        let timer = Task {
            try await clock.sleep(seconds: seconds)
            wake()
        }
        await withCheckedContinuation { continuation in
            if sync.isClosing || background == nil {
                continuation.resume()
            } else {
                background?.sleeper = continuation
            }
        }
        timer.cancel()
    }

    /// Detects writes of another process: every observed value may have changed.
    private func lookForOthers() async {
        guard file.url != nil, let version = try? await file.dataVersion(), version != sync.dataVersion else { return }
        defer { sync.dataVersion = version }
        guard sync.dataVersion != nil else { return }
        liveQueries.noteAny()
        bells.ringAll()
        await compareDrafts(nil)
        // Only its edits are a reason to sync. Otherwise each sync would start one in the other process.
        guard let edits = try? await file.read({ try $0.editCount() }), edits != sync.knownEdits else { return }
        sync.knownEdits = edits
        tell(.edit)
    }

    /// Waits for changes by a long poll; the scheduler fetches them.
    ///
    /// - Returns: false once the store is closed.
    private func listen(_ failures: inout Int) async -> Bool {
        guard background != nil, !sync.isClosing, !Task.isCancelled else { return false }
        guard sync.phase == .idle, !sync.isRunning, let place = try? await file.read({ try $0.feedPlace() }) else {
            await pauseListening(1)
            return true
        }
        if let hasNews = await hears(since: place) {
            if hasNews || failures > 0 { tell(.news) }
            failures = 0
            // The next poll begins after the changes that the scheduler reads now.
            if hasNews { await pauseListening(0.05) }
        } else {
            failures += 1
            var longest = 2.0
            for _ in 0..<min(failures, 6) { longest *= 2 }
            await pauseListening(.random(in: 0.5...1) * min(longest, Background.longestPause))
        }
        return true
    }

    private func pauseListening(_ seconds: Double) async {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { return }
    }

    /// Returns whether there are changes after a revision; nil if there is no answer.
    private func hears(since place: FeedPlace) async -> Bool? {
        let timeout = Background.listenSeconds + SyncState.timeout
        do {
            let (wanted, filter) = try await file.read { (try $0.wanted(), try $0.feedFilter()) }
            let wait = [("limit", "1"), ("wait", "\(Int(Background.listenSeconds))")]
            let members = place.members(filter: filter) + wait
            let path = "/v1/changes" + query(members, resources: wanted)
            let (response, _) = try await send("GET", path, timeout: timeout)
            let answer = try await Self.whole(response)
            // The scheduler's own request will find out about these.
            if [401, 410, 426].contains(answer.status) { return true }
            guard answer.status == 200, let page = ChangesPage(answer.json) else { return nil }
            return !page.changes.isEmpty || page.feed != place.feed || page.revision != place.revision
        } catch {
            return nil
        }
    }

    /// Sets whether the device has a network; without one, the store sends nothing.
    public func setOnline(_ isOnline: Bool) async throws {
        if isOnline { resetLane() } else { lane.task?.cancel() }
        if sync.isRunning, !isOnline {
            abort(.offline)
        } else if background != nil {
            tell(isOnline ? .online : .offline)
        } else if !isOnline {
            _ = try await run(.offline)
        }
    }
}
