import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Finds what programs wrote that bypass the gateway, by reading all rows again and again.
///
/// Of the gateways on a journal one scans, whichever has taken the lease. That only saves the others the work: marks and
/// changes are written in one transaction, in which the lease is looked at once more.
package final class ForeignScan: Sendable {
    /// The settings of a scan.
    package struct Settings: Sendable {
        /// Rows that may be read in a second.
        package var rowsPerSecond: Int
        /// The time from the beginning of one cycle to that of the next, at least.
        package var interval: Duration
        /// The time to wait before the rows of a table that has lost more than half of them are reported.
        package var emptiedPause: Duration

        /// Takes the settings of an operator.
        package init(
            rowsPerSecond: Int = 50_000, interval: Duration = .milliseconds(500), emptiedPause: Duration = .seconds(60)
        ) {
            self.rowsPerSecond = rowsPerSecond
            self.interval = interval
            self.emptiedPause = emptiedPause
        }
    }

    private let settings: Settings
    private let service: MergeService
    private let feed: ChangeFeed
    private let active: @Sendable () -> ActiveRules?
    private let askForReload: @Sendable () -> Void
    private let warn: @Sendable (String) -> Void
    private let status = Mutex(ScanStatus())
    /// The place at which the last pass was broken off; nil where none was.
    private let place = Mutex<ScanPlace?>(nil)
    private let clock = Mutex<(lag: Int, at: ContinuousClock.Instant)?>(nil)
    private let gateway = String(UInt64.random(in: .min ... .max), radix: 16)
    private static let pause = Duration.seconds(1)

    /// - Parameters:
    ///   - feed: what gives the changes their revisions.
    ///   - active: the rules and the journal at the moment; nil while nothing is served or scanned.
    ///   - askForReload: has the schema read again, since a table was altered.
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

    /// The state of the scan as this gateway knows it.
    package var current: ScanStatus {
        var now = status.withLock { $0 }
        now.lag = clock.withLock { known in
            known.map { $0.lag + Int((ContinuousClock.now - $0.at).components.seconds) }
        }
        return now
    }

    /// Scans until the task is cancelled, whenever it is this gateway's turn.
    package func run() async {
        while !Task.isCancelled {
            if let rules = active(), let journal = rules.journal {
                do throws(StoreError) {
                    try await shift(rules, journal)
                } catch {
                    status.withLock { $0.failures += 1 }
                    note(trouble: error.description)
                }
            }
            status.withLock { $0.isScanning = false }
            try? await Task.sleep(for: Self.pause)
        }
        guard let journal = active()?.journal else { return }
        let leaving = journal.tables.feed.leaveScan(gateway)
        // This task is cancelled, and an engine does nothing for one that is.
        await Task {
            try? await journal.engine.write(deadline: .now.advanced(by: .seconds(2))) { session throws(StoreError) in
                _ = try session.execute(leaving)
                return .commit(())
            }
        }.value
    }

    /// Notes in the journal that a gateway sends records without noting them, for a scan that may come later: it cannot
    /// rely then on what clients were told before.
    package static func sendsUnnoted(_ journal: @escaping @Sendable () -> Journal?) async {
        while !Task.isCancelled {
            if let journal = journal() {
                let feed = journal.tables.feed
                do throws(StoreError) {
                    return try await journal.engine.write(deadline: .now.advanced(by: pause * 10)) {
                        session throws(StoreError) in
                        _ = try session.execute(feed.forgetScanned)
                        return .commit(())
                    }
                } catch {}
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Returns true where gateways on a journal scan, or have done so.
    ///
    /// - Throws: `StoreError` where the journal cannot be read.
    package static func isUsed(in journal: Journal) async throws(StoreError) -> Bool {
        let feed = journal.tables.feed
        let rows = try await journal.engine.read(deadline: .now.advanced(by: pause * 10)) {
            session throws(StoreError) in
            try session.query(feed.scanState(locking: false))
        }
        return rows.first.flatMap { feed.scanState($0) }.map { $0.term > 0 } ?? false
    }

    private func shift(_ rules: ActiveRules, _ journal: Journal) async throws(StoreError) {
        let desk = ScanDesk(journal: journal, gateway: gateway)
        let state = try await desk.take()
        note(state)
        let (units, others) = ScanUnit.all(of: rules.catalog)
        let since = try await desk.since(units)
        status.withLock {
            $0.unwatched = others
            $0.since = since
        }
        guard let lease = state.lease, lease.holder == gateway else { return }
        status.withLock { $0.isScanning = true }
        let shift = ScanShift(
            settings, desk: desk, lease: lease,
            hand: ScanHand(service: service, feed: feed, journal: journal), units: units,
            progress: state.progress, from: place.withLock { $0 })
        defer { place.withLock { $0 = shift.place } }
        try await shift.run { [self] news in
            status.withLock { status in
                status.cycles += news.cycles
                status.found += news.found
                if news.trouble == nil { status.trouble = nil }
                if let since = news.since { status.since = since }
            }
            if let trouble = news.trouble { note(trouble: trouble) }
            for sentence in news.warnings { warn(sentence) }
            if news.hasAlteredTable { askForReload() }
            if let state = news.state { note(state) }
            return active() === rules && !Task.isCancelled
        }
    }

    private func note(_ state: ScanState) {
        status.withLock {
            $0.takeovers = max(0, state.term - 1)
            $0.cycleMilliseconds = state.progress.cycleMilliseconds
            $0.rowsPerSecond = state.progress.rowsPerSecond
        }
        clock.withLock { $0 = state.progress.noticed.map { (max(0, state.now - $0), .now) } }
    }

    private func note(trouble: String) {
        status.withLock { status in
            let since = status.trouble.flatMap { $0.text == trouble ? $0.since : nil }
            status.trouble = (trouble, since ?? .now)
        }
    }
}
