import ChangeFeed
import MergeCore
import Synchronization

/// Counts requests, pushes and outcomes, for `/metrics`.
final class GatewayMetrics: Sendable {
    struct RequestKind: Hashable, Comparable {
        let method: String
        let route: String
        let status: Int

        static func < (a: RequestKind, b: RequestKind) -> Bool {
            (a.route, a.method, a.status) < (b.route, b.method, b.status)
        }
    }

    private struct State {
        var requests: [RequestKind: Int] = [:]
        var seconds: [String: Histogram] = [:]
        var outcomes: [OutcomeKind: Int] = [:]
        var conflicts = 0
        var pushes: [PushStatus: Int] = [:]
        var running = 0
        var problems: [ProblemKind: Int] = [:]
        var feed: String?
        var feedRestarts = 0
    }

    /// A kind of problem; both names come from the program and the rules, not from clients.
    private struct ProblemKind: Hashable {
        let code: String
        let resource: String
    }

    /// The devices that use the gateway, for the journal.
    let clients: SeenClients
    /// The devices that read changes.
    let devices = SyncedDevices()

    private let state = Mutex(State())

    /// - Parameter notesClients: true if the journal stores the devices.
    init(notesClients: Bool) { clients = SeenClients(isOn: notesClients) }

    func begin() { state.withLock { $0.running += 1 } }

    /// Counts an answered request.
    ///
    /// - Parameter seconds: the time from its first byte to its answer.
    func end(_ kind: RequestKind, seconds: Double) {
        state.withLock { state in
            state.running -= 1
            state.requests[kind, default: 0] += 1
            state.seconds[kind.route, default: Histogram()].add(seconds)
        }
    }

    /// Counts the problem of a request or of its first refused push.
    func count(problem code: String, of resource: String?) {
        state.withLock { $0.problems[ProblemKind(code: code, resource: resource ?? ""), default: 0] += 1 }
    }

    /// Returns the number of feeds that replaced another one, as the readings of `/metrics` found them.
    func feedRestarts(to feed: String?) -> Int {
        state.withLock { state in
            if let feed, let former = state.feed, former != feed { state.feedRestarts += 1 }
            if let feed { state.feed = feed }
            return state.feedRestarts
        }
    }

    func count(_ result: PushResult) {
        state.withLock { state in
            state.pushes[result.status, default: 0] += 1
            guard result.status == .merged || result.status == .partial else { return }
            for edit in result.results {
                for outcome in edit.outcomes {
                    state.outcomes[outcome.kind, default: 0] += 1
                    if outcome.isConflict { state.conflicts += 1 }
                }
            }
        }
    }

    /// Returns the text for Prometheus, version 0.0.4.
    ///
    /// - Parameters:
    ///   - journalBytes: the bytes written to the journal; nil if it is off.
    ///   - foreign: nil if nothing finds foreign changes.
    func text(
        isReady: Bool, isMaintained: Bool = false, journalBytes: Int? = nil, feed: FeedGauges? = nil,
        foreign: ForeignChangeStatus? = nil
    ) -> String {
        let state = state.withLock { $0 }
        var page = MetricsPage()
        page.begin("fieldmerge_ready", type: "gauge", help: "1 if the gateway accepts requests")
        page.add("fieldmerge_ready", labels: [], value: isReady ? 1 : 0)
        page.begin("fieldmerge_maintenance", type: "gauge", help: "1 while maintenance is on")
        page.add("fieldmerge_maintenance", labels: [], value: isMaintained ? 1 : 0)
        page.begin("fieldmerge_requests_in_flight", type: "gauge", help: "Requests that wait for their answer")
        page.add("fieldmerge_requests_in_flight", labels: [], value: state.running)
        page.begin("fieldmerge_requests_total", type: "counter", help: "Requests answered")
        for (kind, count) in state.requests.sorted(by: { $0.key < $1.key }) {
            let labels = [("method", kind.method), ("route", kind.route), ("status", String(kind.status))]
            page.add("fieldmerge_requests_total", labels: labels, value: count)
        }
        page.begin("fieldmerge_request_seconds", type: "histogram", help: "Time from a request to its answer")
        for (route, histogram) in state.seconds.sorted(by: { $0.key < $1.key }) {
            page.add(histogram, as: "fieldmerge_request_seconds", labels: [("route", route)])
        }
        page.begin(
            "fieldmerge_problems_total", type: "counter", help: "Requests with a problem, by its code and the resource")
        for (kind, count) in state.problems.sorted(by: {
            ($0.key.code, $0.key.resource) < ($1.key.code, $1.key.resource)
        }) {
            page.add(
                "fieldmerge_problems_total", labels: [("code", kind.code), ("resource", kind.resource)], value: count)
        }
        page.begin("fieldmerge_pushes_total", type: "counter", help: "Pushes by their status")
        for (status, count) in state.pushes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            page.add("fieldmerge_pushes_total", labels: [("status", status.rawValue)], value: count)
        }
        page.begin("fieldmerge_outcomes_total", type: "counter", help: "Groups and rows by outcome")
        for (kind, count) in state.outcomes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            page.add("fieldmerge_outcomes_total", labels: [("outcome", kind.rawValue)], value: count)
        }
        page.begin("fieldmerge_conflicts_total", type: "counter", help: "Outcomes that were a conflict")
        page.add("fieldmerge_conflicts_total", labels: [], value: state.conflicts)
        if let journalBytes {
            page.begin(
                "fieldmerge_journal_written_bytes_total", type: "counter",
                help: "Bytes left in the journal, as they are kept")
            page.add("fieldmerge_journal_written_bytes_total", labels: [], value: journalBytes)
        }
        if let feed {
            page.begin("fieldmerge_feed_revision", type: "gauge", help: "The latest revision that clients may read")
            page.add("fieldmerge_feed_revision", labels: [], value: feed.revision)
            page.begin("fieldmerge_feed_waiting", type: "gauge", help: "Clients that wait for the next change")
            page.add("fieldmerge_feed_waiting", labels: [], value: feed.waiting)
            if let pending = feed.pending {
                page.begin(
                    "fieldmerge_feed_pending", type: "gauge",
                    help: "Transactions whose changes have no revision yet, 10,000 at most")
                page.add("fieldmerge_feed_pending", labels: [], value: pending)
            }
            page.begin(
                "fieldmerge_feed_source", type: "gauge", help: "What finds changes of programs that bypass the gateway")
            let source = foreign.map { $0.followsLog ? "binlog" : "scan" } ?? "off"
            page.add("fieldmerge_feed_source", labels: [("source", source)], value: 1)
        }
        if let foreign { page.add(foreign) }
        return page.text
    }
}

/// The current state of the change feed, for `/metrics`.
struct FeedGauges: Sendable {
    let revision: Int
    let waiting: Int
    /// The counted transactions without a revision, or nil.
    let pending: Int?
}

extension MetricsPage {
    /// Adds the known values of the scan.
    fileprivate mutating func add(_ scan: ForeignChangeStatus) {
        for (name, type, help, value) in [
            ("scanning", "gauge", "1 if this gateway scans", scan.isScanning ? 1 : 0),
            ("lag_seconds", "gauge", "Age of the last complete check for changes of other programs", scan.lag),
            (
                "since_seconds", "gauge", "Second since 1970 from which on other programs' changes are noticed",
                scan.since?.unixSeconds
            ),
            ("cycle_milliseconds", "gauge", "Duration of the last scan of all rows", scan.cycleMilliseconds),
            ("rows_per_second", "gauge", "Rows read in a second", scan.rowsPerSecond),
            ("takeovers_total", "counter", "Times that another gateway took the scan over", scan.takeovers),
            ("cycles_total", "counter", "Scans of all rows by this gateway", scan.cycles),
            ("failures_total", "counter", "Times that the scan had to begin anew", scan.failures),
            ("changes_total", "counter", "Changes of other programs that this gateway has found", scan.found),
        ] as [(String, String, String, Int?)] {
            guard let value else { continue }
            begin("fieldmerge_scan_" + name, type: type, help: help)
            add("fieldmerge_scan_" + name, labels: [], value: value)
        }
        begin(
            "fieldmerge_foreign_found_by_scan_only", type: "counter",
            help: "Changes of other programs that the binary log should have contained, but only the scan has found")
        add("fieldmerge_foreign_found_by_scan_only", labels: [], value: scan.foundByScanOnly)
        begin(
            "fieldmerge_binlog_changes_total", type: "counter",
            help: "Changes of other programs that this gateway has recorded from the binary log")
        add("fieldmerge_binlog_changes_total", labels: [], value: scan.logged)
    }
}

extension DateTime {
    /// The seconds since 1970 in the same time zone; nil for an incomplete date.
    fileprivate var unixSeconds: Int? {
        date.isIncomplete ? nil : date.dayNumber * 86_400 + Int(microseconds / 1_000_000)
    }
}
