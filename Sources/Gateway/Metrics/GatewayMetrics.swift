import MergeCore
import Synchronization

/// Counts what the gateway does, for `/metrics`.
final class GatewayMetrics: Sendable {
    /// Requests of one kind with one status.
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
    }

    private let state = Mutex(State())

    func begin() { state.withLock { $0.running += 1 } }

    /// A request was answered.
    ///
    /// - Parameter seconds: from its first byte to its answer.
    func end(_ kind: RequestKind, seconds: Double) {
        state.withLock { state in
            state.running -= 1
            state.requests[kind, default: 0] += 1
            state.seconds[kind.route, default: Histogram()].add(seconds)
        }
    }

    /// A push has its result.
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

    /// Everything in the text format of Prometheus, version 0.0.4.
    ///
    /// - Parameter journalBytes: what was left in the journal; nil where there is none.
    func text(isReady: Bool, journalBytes: Int? = nil) -> String {
        let state = state.withLock { $0 }
        var page = MetricsPage()
        page.begin("fieldmerge_ready", "gauge", "1 where requests are served")
        page.add("fieldmerge_ready", [], isReady ? 1 : 0)
        page.begin("fieldmerge_requests_in_flight", "gauge", "Requests that wait for their answer")
        page.add("fieldmerge_requests_in_flight", [], state.running)
        page.begin("fieldmerge_requests_total", "counter", "Requests answered")
        for (kind, count) in state.requests.sorted(by: { $0.key < $1.key }) {
            let labels = [("method", kind.method), ("route", kind.route), ("status", String(kind.status))]
            page.add("fieldmerge_requests_total", labels, count)
        }
        page.begin("fieldmerge_request_seconds", "histogram", "Time from a request to its answer")
        for (route, histogram) in state.seconds.sorted(by: { $0.key < $1.key }) {
            page.add(histogram, "fieldmerge_request_seconds", [("route", route)])
        }
        page.begin("fieldmerge_pushes_total", "counter", "Pushes by their status")
        for (status, count) in state.pushes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            page.add("fieldmerge_pushes_total", [("status", status.rawValue)], count)
        }
        page.begin("fieldmerge_outcomes_total", "counter", "Groups and rows by what became of them")
        for (kind, count) in state.outcomes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            page.add("fieldmerge_outcomes_total", [("outcome", kind.rawValue)], count)
        }
        page.begin("fieldmerge_conflicts_total", "counter", "Outcomes that were a conflict")
        page.add("fieldmerge_conflicts_total", [], state.conflicts)
        if let journalBytes {
            page.begin(
                "fieldmerge_journal_written_bytes_total", "counter", "Bytes left in the journal, as they are kept")
            page.add("fieldmerge_journal_written_bytes_total", [], journalBytes)
        }
        return page.text
    }
}

/// Counts requests by their time, in buckets of seconds.
struct Histogram {
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    private(set) var counts = [Int](repeating: 0, count: bounds.count)
    private(set) var sum = 0.0
    private(set) var count = 0

    mutating func add(_ seconds: Double) {
        sum += seconds
        count += 1
        if let bucket = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[bucket] += 1 }
    }
}

/// Lines of the Prometheus text format.
private struct MetricsPage {
    private(set) var text = ""

    mutating func begin(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func add(_ name: String, _ labels: [(String, String)], _ value: some CustomStringConvertible) {
        let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    mutating func add(_ histogram: Histogram, _ name: String, _ labels: [(String, String)]) {
        var total = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            total += count
            add(name + "_bucket", labels + [("le", "\(bound)")], total)
        }
        add(name + "_bucket", labels + [("le", "+Inf")], histogram.count)
        add(name + "_sum", labels, histogram.sum)
        add(name + "_count", labels, histogram.count)
    }
}
