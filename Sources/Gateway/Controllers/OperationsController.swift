import ChangeFeed
import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Answers operators and their probes.
struct OperationsController {
    private let service: MergeService
    private let rules: RulesLoader
    private let limits: WireLimits
    private var box: RulesBox { rules.box }
    let metrics: GatewayMetrics
    let changes: ChangeWork
    private var feed: ChangeFeed { changes.feed }
    /// nil if the gateway needs no tokens.
    let tokens: (any TokenVerifier)?
    private let watch: ReadinessWatch
    private let journalWatch = JournalWatch()
    private let certificate: ServerCertificate?
    private let startedAt = DateTime.now
    /// The time after which `/readyz` reports a failing feed or scan.
    private static let patienceWithFeed = Duration.seconds(30)

    init(
        service: MergeService, rules: RulesLoader, limits: WireLimits, metrics: GatewayMetrics, changes: ChangeWork,
        writes: WriteHealth, tokens: (any TokenVerifier)?, certificate: ServerCertificate? = nil
    ) {
        self.certificate = certificate
        self.rules = rules
        self.limits = limits
        self.service = service
        self.changes = changes
        self.metrics = metrics
        self.tokens = tokens
        watch = ReadinessWatch(
            service, patience: .seconds(3), writes: writes, isPaused: { rules.box.maintenance.isOn },
            pendingFloor: { [feed = changes.feed] in feed.sequencedLongAgo }, active: { rules.box.active })
    }

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/healthz", use: health)
        routes.get("/readyz", use: readiness)
        routes.get("/metrics", use: counters)
        routes.get("/openapi.json", use: description)
        routes.get("/v1/operations/health", need: .operate, use: report)
        routes.post("/v1/operations/maintenance", need: .operate, use: setMaintenance)
    }

    @Sendable private func setMaintenance(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let wanted = try MaintenanceRequest(try context.jsonBody(limit: limits.bodyBytes))
        rules.setMaintenance(wanted.isOn ? wanted.reason ?? "an operator switched it on" : nil)
        let maintenance = box.maintenance
        return Reply.json(
            OperatorJSON.maintenance(reason: maintenance.reason, running: maintenance.running), to: context.headers,
            with: [.cacheControl: "no-store"])
    }

    @Sendable private func counters(_ request: Request, in context: GatewayContext) async throws -> Response {
        let seen = await watch.seen()
        let gauges = GatewayGauges(
            rules: box.active?.catalog.version, ruleProblems: box.trouble.count, journalRows: seen.size?.rows,
            historyChanges: rules.history.changes,
            connections: service.engine.connections, queues: service.queues, unreadable: service.unreadable.current())
        let text = metrics.text(
            isReady: isReady(seen), isMaintained: box.maintenance.isOn,
            journalBytes: box.active?.journal?.tables.meter.total,
            feed: feed.known.map { FeedGauges(revision: $0.revision, waiting: feed.waiting, pending: seen.pending) },
            foreign: changes.source.status)
        var page = MetricsPage()
        let journal = box.active?.journal
        OperatorGauges(
            journalBytes: seen.size?.bytes, entries: await journalWatch.counts(of: seen.fault == nil ? journal : nil),
            meter: journal?.tables.meter, canReadDatabase: seen.fault == nil,
            canReadJournal: journal == nil ? nil : seen.fault == nil && seen.journalFault == nil,
            canWrite: seen.fault == nil && seen.writeFault == nil && !box.maintenance.isOn,
            certificateEnd: certificate?.end, devices: metrics.devices,
            feedRestarts: metrics.feedRestarts(to: feed.known?.feed)
        ).add(to: &page)
        return Reply.json(
            Array((text + gauges.text + page.text).utf8), to: context.headers, type: "text/plain; version=0.0.4")
    }

    @Sendable private func description(_ request: Request, in context: GatewayContext) async throws -> Response {
        Reply.json(OpenAPI.document, to: context.headers)
    }

    /// Answers that the process runs.
    @Sendable private func health(_ request: Request, in context: GatewayContext) async throws -> Response {
        Reply.json(Array(#"{"status":"ok"}"#.utf8), to: context.headers)
    }

    /// Returns true if requests are served, for `/readyz` and `fieldmerge_ready`.
    private func isReady(_ seen: ReadinessWatch.Seen) -> Bool {
        box.active != nil && seen.fault == nil && seen.writeFault == nil && !box.maintenance.isOn && !isInDoubt
    }

    /// True if a COMMIT has been in doubt for so long that pushes are refused.
    private var isInDoubt: Bool { service.inDoubtSince.map { .now - $0 > Self.recoveryPatience } ?? false }

    private static let recoveryPatience = Duration.seconds(3)

    /// Returns all faults as sentences.
    private func troubles(_ seen: ReadinessWatch.Seen, isReady: Bool) -> [String] {
        var trouble = box.trouble + box.missingRights
        if let fault = tokens?.trouble { trouble.append(fault) }
        if let fault = seen.fault, !trouble.contains(fault.description) { trouble.insert(fault.description, at: 0) }
        if let fault = seen.writeFault { trouble.insert("nothing can be pushed: \(fault)", at: 0) }
        if let reason = box.maintenance.reason { trouble.insert("the gateway is under maintenance: \(reason)", at: 0) }
        if isInDoubt {
            trouble.append(
                "the connection to the database broke during a COMMIT, and recovery cannot decide yet whether it took "
                    + "effect; pushes are refused until then")
        }
        if isReady, let fault = seen.journalFault { trouble.append("the journal cannot be read: \(fault)") }
        if isReady, let fault = feed.trouble, .now - fault.since > Self.patienceWithFeed {
            trouble.append("the feed assigns no revisions, so clients get changes late: \(fault.error)")
        }
        let foreign = changes.source.status
        if isReady, let fault = foreign?.trouble, .now - fault.since > Self.patienceWithFeed {
            trouble.append("the feed reports changes of other programs late or never: \(fault.text)")
        }
        if isReady, foreign?.isLogExpected == true, let fault = foreign?.logFault {
            trouble.append(
                "only the scan finds changes of other programs, because the binary log is not read: \(fault)")
        }
        if let change = rules.history.trouble { trouble.append(change) }
        trouble += service.unreadable.sentences
        return trouble
    }

    private func feedReport(_ seen: ReadinessWatch.Seen) -> FeedReport? {
        feed.known.map {
            FeedReport(
                revision: $0.revision, pending: seen.pending,
                foreign: changes.source.status.map { FeedReport.Foreign($0) })
        }
    }

    /// Answers the state of this gateway, for operators.
    @Sendable private func report(_ request: Request, in context: GatewayContext) async throws -> Response {
        let seen = await watch.seen()
        var report = HealthReport()
        report.version = ProgramVersion.text
        (report.startedAt, report.now) = (startedAt, DateTime.now)
        report.isReady = isReady(seen)
        report.problems = troubles(seen, isReady: report.isReady)
        report.maintenance = box.maintenance.reason
        report.rules = box.summary
        report.connections = service.engine.connections.map { ($0.open, $0.used, $0.limit, $0.waiting) }
        report.queues = service.queues.map { ($0.name, $0.waiting) }
        report.promise = box.promise
        if let size = seen.size {
            let counts = await journalWatch.counts(of: seen.fault == nil ? box.active?.journal : nil)
            report.journal = HealthReport.JournalSize(
                rows: size.rows, bytes: size.bytes, rowsOfLastDay: size.lastDay, oldestSeconds: counts?.oldestSeconds,
                refusedOfLastDay: counts?.refused)
        }
        report.feed = feedReport(seen)
        report.certificateEnd = certificate?.end
        report.historyChanges = rules.history.changes
        return Reply.json(report.json, to: context.headers, with: [.cacheControl: "no-store"])
    }

    /// Answers whether requests are served, with all faults.
    @Sendable private func readiness(_ request: Request, in context: GatewayContext) async throws -> Response {
        let seen = await watch.seen()
        let isReady = isReady(seen)
        let size = isReady ? seen.size : nil
        let report = ReadinessReport(
            isReady: isReady, version: box.active?.catalog.version, trouble: troubles(seen, isReady: isReady),
            promise: box.promise,
            journalRows: size?.rows, journalBytes: size?.bytes, journalLastDay: size?.lastDay,
            feed: feedReport(seen))
        return Reply.json(
            report.json, to: context.headers, status: isReady ? .ok : .serviceUnavailable,
            with: isReady ? [:] : [.retryAfter: "5"])
    }
}

extension FeedReport.Foreign {
    fileprivate init(_ status: ForeignChangeStatus) {
        self.init(
            source: status.followsLog ? "binlog" : "scan", logFault: status.logFault, isLooking: status.isScanning,
            lag: status.lag,
            since: status.since.map { $0.text(separator: "T", fraction: 0) + "Z" },
            numbers: [
                ("cycleMilliseconds", status.cycleMilliseconds), ("rowsPerSecond", status.rowsPerSecond),
                ("takeovers", status.takeovers),
            ], unwatched: status.unwatched)
    }
}
