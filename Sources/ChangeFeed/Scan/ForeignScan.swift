import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Finds foreign changes by reading all rows again and again, and in the server's row log if it may be used.
///
/// The log reports changes at once. The scan finds what the log does not contain: it runs the passes that the reader of
/// the log demands, and a cycle from time to time. Without a log it runs all the time.
///
/// Only the gateway with the lease scans. This saves work, but safety does not depend on it: each transaction that
/// writes row digests and changes checks the lease again.
package final class ForeignScan: ForeignChangeSource {
    /// The settings of a scan.
    package struct Settings: Sendable {
        /// The use of the row log.
        package var log: RowLogUse
        /// True if the journal keeps the values of changes from the row log.
        package var keepsValues: Bool
        /// The maximum rows that are read in a second.
        package var rowsPerSecond: Int
        /// The minimum time between the starts of two cycles.
        package var interval: Duration
        /// The time between the starts of two cycles while a row log is followed.
        package var netInterval: Duration
        /// The delay before a scan reports that a table has lost most of its rows.
        package var emptiedPause: Duration

        /// Makes settings.
        package init(
            log: RowLogUse = .never, keepsValues: Bool = false, rowsPerSecond: Int = 50_000,
            interval: Duration = .milliseconds(500),
            netInterval: Duration = .seconds(3_600), emptiedPause: Duration = .seconds(60)
        ) {
            self.rowsPerSecond = rowsPerSecond
            self.log = log
            self.keepsValues = keepsValues
            self.interval = interval
            self.netInterval = netInterval
            self.emptiedPause = emptiedPause
        }
    }

    private let settings: Settings
    private let service: MergeService
    private let feed: ChangeFeed
    private let active: @Sendable () -> ActiveRules?
    private let askForReload: @Sendable () -> Void
    private let warn: @Sendable (String) -> Void
    private let seen = Mutex(ForeignChangeStatus())
    /// The place at which the last pass was interrupted, or nil.
    private let place = Mutex<ScanPlace?>(nil)
    private let agenda = PassAgenda()
    private let hasFollowedLog = Atomic<Bool>(false)
    private let clock = Mutex<(lag: Int, at: ContinuousClock.Instant)?>(nil)
    private let gateway = String(UInt64.random(in: .min ... .max), radix: 16)
    private static let pause = Duration.seconds(1)

    /// - Parameters:
    ///   - active: returns the active rules with the journal; nil to pause the scan.
    ///   - askForReload: requests a reload after a table was altered.
    ///   - warn: logs a sentence for operators.
    package init(
        _ settings: Settings, service: MergeService, feed: ChangeFeed, active: @escaping @Sendable () -> ActiveRules?,
        askForReload: @escaping @Sendable () -> Void, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.warn = warn
        self.settings = settings
        self.service = service
        self.feed = feed
        self.active = active
        self.askForReload = askForReload
    }

    package var needsDeliveryRecords: Bool { true }

    /// The current state of the scan in this gateway.
    package var status: ForeignChangeStatus? {
        var now = seen.withLock { $0 }
        now.followsLog = agenda.isFollowing
        now.isLogExpected = settings.log == .expected
        now.lag = clock.withLock { known in
            known.map { $0.lag + Int((ContinuousClock.now - $0.at).components.seconds) }
        }
        return now
    }

    /// Scans while this gateway has the lease, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            if let rules = active(), let journal = rules.journal {
                do throws(StoreError) {
                    try await scan(under: rules, journal)
                } catch {
                    seen.withLock { $0.failures += 1 }
                    note(trouble: error.description)
                }
            }
            seen.withLock { $0.isScanning = false }
            try? await Task.sleep(for: Self.pause)
        }
        guard let journal = active()?.journal else { return }
        let leaving = journal.tables.feed.leaveScan(gateway)
        // An engine does nothing for a cancelled task.
        await withoutCancellation {
            try? await journal.engine.write(deadline: .now.advanced(by: .seconds(2))) { session throws(StoreError) in
                _ = try session.execute(leaving)
                return .commit(())
            }
        }
    }

    /// Returns true if gateways on a journal scan or have scanned.
    package static func isUsed(in journal: Journal) async throws(StoreError) -> Bool {
        let feed = journal.tables.feed
        let rows = try await journal.engine.read(deadline: .now.advanced(by: pause * 10)) {
            session throws(StoreError) in
            try session.query(feed.scanState(locking: false))
        }
        return rows.first.flatMap { feed.scanState($0) }.map { $0.term > 0 } ?? false
    }

    private func scan(under rules: ActiveRules, _ journal: Journal) async throws(StoreError) {
        let desk = ScanDesk(journal: journal, gateway: gateway)
        let state = try await desk.take()
        note(state)
        let (units, others) = ScanUnit.all(of: rules.catalog)
        let since = try await desk.since(units)
        seen.withLock {
            $0.unwatched = others
            $0.since = since
        }
        guard let lease = state.lease, lease.holder == gateway else {
            // The gateway with the lease reports the trouble of the scan and of the log.
            seen.withLock { status in
                status.trouble = nil
                status.logFault = nil
            }
            return
        }
        seen.withLock { $0.isScanning = true }
        let log = settings.log == .never ? nil : service.engine.rowLog
        let reader = PassReader(
            service: service, feed: feed, journal: journal, lease: lease, log: log.map { LogWatch($0, agenda) },
            emptiedPause: settings.emptiedPause)
        let run = ScanRun(
            settings, desk: desk, reader: reader, units: units, agenda: agenda, progress: state.progress,
            from: place.withLock { $0 }
        ) { [self] news in
            note(news)
            return active() === rules && !Task.isCancelled
        }
        defer { place.withLock { $0 = run.place } }
        guard let log else {
            if settings.log == .expected { note(.stopped("the database has none")) }
            return try await run.run()
        }
        let follower = LogFollower(
            log: log, recorder: reader.recorder, agenda: agenda, lease: lease, units: units,
            keeping: settings.keepsValues ? rules : nil
        ) { [self] in note($0) }
        try await withTaskGroup { group async -> Result<Void, StoreError> in
            // The first changes that the scan finds wait for the reader.
            agenda.begin()
            group.addTask { await follower.run() }
            defer { group.cancelAll() }
            do throws(StoreError) {
                return .success(try await run.run())
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private func note(_ news: ScanNews) {
        seen.withLock { status in
            status.cycles += news.cycles
            status.found += news.found
            status.foundByScanOnly += news.foundByScanOnly
            if news.trouble == nil { status.trouble = nil }
            if let since = news.since { status.since = since }
        }
        if let trouble = news.trouble { note(trouble: trouble) }
        for sentence in news.warnings { warn(sentence) }
        if news.hasAlteredTable { askForReload() }
        if let state = news.state { note(state) }
    }

    private func note(_ event: LogFollower.Event) {
        switch event {
        case .following:
            hasFollowedLog.store(true, ordering: .relaxed)
            seen.withLock { $0.logFault = nil }
        case .stopped(let reason):
            let former = seen.withLock { status in
                defer { status.logFault = reason }
                return status.logFault
            }
            // A server without a usable log is no event, unless the log is expected or was usable.
            let isExpected = settings.log == .expected || hasFollowedLog.load(ordering: .relaxed)
            if former == reason || !isExpected { return }
            warn("the binary log is not read, so only the scan finds changes of other programs: \(reason)")
        case .alteredTable: askForReload()
        case .recorded(let count): seen.withLock { $0.logged += count }
        }
    }

    private func note(_ state: ScanState) {
        seen.withLock {
            $0.takeovers = max(0, state.term - 1)
            $0.cycleMilliseconds = state.progress.cycleMilliseconds
            $0.rowsPerSecond = state.progress.rowsPerSecond
        }
        clock.withLock { $0 = state.progress.noticed.map { (max(0, state.now - $0), .now) } }
    }

    private func note(trouble: String) {
        seen.withLock { status in
            let since = status.trouble.flatMap { $0.text == trouble ? $0.since : nil }
            status.trouble = (trouble, since ?? .now)
        }
    }
}
