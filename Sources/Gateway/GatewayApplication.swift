import ChangeFeed
import FoundationEssentials
import Hummingbird
import HummingbirdCore
package import Logging
import MergeCore
import MergeService
import MergeWire
import NIOCore
package import Operations
package import RecordStore
import ServiceLifecycle

/// The gateway as a service.
package struct GatewayApplication: Service {
    private let application: Application<GatewayResponder>
    private let engine: any RecordEngine
    private let box: RulesBox
    private let feed: ChangeFeed
    private let host: String
    private let port: Int

    /// Makes a gateway; `run` starts it.
    ///
    /// - Parameters:
    ///   - tokens: verifies the tokens; nil serves every client, on loopback addresses only.
    ///   - onListening: called with the port when the gateway accepts connections.
    package init(
        configuration: GatewayConfiguration, engine: any RecordEngine, rules: RulesLoader,
        tokens: (any TokenVerifier)?, logger: Logger, onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.engine = engine
        host = configuration.host
        port = configuration.port
        let service = MergeService.wire(
            engine, limits: configuration.merge,
            unreadable: UnreadableRecords { logger.error("\($0.sentence)") })
        let box = rules.box
        self.box = box
        feed = ChangeFeed(
            interval: configuration.feedInterval, journal: { box.active?.journal },
            tell: { await service.tellEndedTransactions() },
            isEmpty: { await box.active?.isEmpty(service) ?? false }, isPaused: { box.maintenance.isOn })
        let source = Self.source(
            configuration, service: service, feed: feed, box: box, warn: { logger.warning("\($0)") })
        let shown = ShownRecords(isOn: source.needsDeliveryRecords)
        let metrics = GatewayMetrics(notesClients: configuration.console != .off)
        let responder = Self.responder(
            configuration: configuration, service: service, metrics: metrics,
            changes: ChangeWork(feed: feed, shown: shown, source: source), rules: rules, tokens: tokens, logger: logger)
        let limits = ConnectionLimits(
            bodyBytes: configuration.wire.bodyBytes,
            largeWork: LargeWork(threads: ProcessInfo.processInfo.activeProcessorCount / 2),
            budget: ByteBudget(configuration.heldBytes), proxies: configuration.proxies, tokens: tokens,
            headTime: .seconds(Int64(configuration.headSeconds)),
            bodyTime: .seconds(Int64(configuration.bodySeconds)),
            answerTime: .seconds(Int64(configuration.answerSeconds)),
            idleTime: .seconds(configuration.idleSeconds))
        let door = ClientDoor(limit: configuration.clients)
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        var application = Application(
            responder: responder,
            server: HTTPServerBuilder { _ in
                HTTPConnections(
                    responder: responder, limits: limits, door: door, certificate: configuration.certificate)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(door.mostAccepted)),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? 0) }, logger: quiet)
        application.addServices(
            FeedService(
                feed: feed, source: source,
                settle: {
                    if let active = box.active { try? await service.settle(active, until: .now + .seconds(10)) }
                }))
        application.addServices(HistoryWatch(history: rules.history, feed: feed, box: box, logger: logger))
        if configuration.console != .off {
            application.addServices(ClientWatch(clients: metrics.clients, box: box, logger: logger))
        }
        self.application = application
    }

    private static func source(
        _ configuration: GatewayConfiguration, service: MergeService, feed: ChangeFeed, box: RulesBox,
        warn: @escaping @Sendable (String) -> Void
    ) -> any ForeignChangeSource {
        guard let rows = configuration.scanRowsPerSecond else {
            return NoForeignChanges(journal: { box.active?.journal })
        }
        let settings = ForeignScan.Settings(
            log: configuration.foreignLog, keepsValues: configuration.keepsForeign, rowsPerSecond: rows,
            interval: configuration.scanInterval,
            netInterval: configuration.scanNetInterval, emptiedPause: configuration.emptiedPause)
        return ForeignScan(
            settings, service: service, feed: feed, active: { box.maintenance.isOn ? nil : box.active },
            askForReload: { box.askForReload() }, warn: warn)
    }

    private static func responder(
        configuration: GatewayConfiguration, service: MergeService, metrics: GatewayMetrics, changes: ChangeWork,
        rules: RulesLoader,
        tokens: (any TokenVerifier)?, logger: Logger
    ) -> GatewayResponder {
        let box = rules.box
        let writes = WriteHealth()
        let problems = ProblemMapping(box: box, writes: writes)
        var routes = RouteTable(console: ConsoleGuard(mode: configuration.console))
        RecordsController(
            service: service, plain: PlainReads(service: service, shown: changes.shown), box: box,
            limits: configuration.wire, logger: logger
        ).addRoutes(to: &routes)
        let rates = ClientRates(
            requestsPerSecond: configuration.requestsPerSecond, editsPerSecond: configuration.editsPerSecond,
            // Without tokens clients cannot be distinguished, so any client may use the whole queue.
            share: tokens == nil ? nil : max(1, configuration.merge.waiting / 2))
        let delivery = ResultDelivery(service: service, feed: changes.feed, shown: changes.shown)
        let share = JournalShare(bytesPerDay: configuration.journalBytesPerDay)
        // All addresses with bodies share the memory, so they share the gate.
        let gate = LargeGate(limit: configuration.heldBytes / 16)
        let invalid = InvalidPushes(perDay: configuration.invalidPushesPerDay, box.maintenance)
        PushController(
            service: service, box: box, limits: configuration.wire, metrics: metrics, share: share, rates: rates,
            delivery: delivery, gate: gate, invalid: invalid
        ).addRoutes(to: &routes)
        JournalController(
            service: service, box: box, limits: configuration.wire, metrics: metrics, share: share,
            delivery: delivery
        ).addRoutes(to: &routes)
        OperationsController(
            service: service, rules: rules, limits: configuration.wire, metrics: metrics, changes: changes,
            writes: writes, tokens: tokens, certificate: configuration.certificate
        ).addRoutes(to: &routes)
        let access = FeedAccess(
            feed: changes.feed,
            reader: FeedReader(service: service, feed: changes.feed, codec: .wire, shown: changes.shown),
            shown: changes.shown)
        SyncController(
            service: service, box: box, access: access, limits: configuration.wire, metrics: metrics, share: share,
            rates: rates, delivery: delivery, gate: gate, invalid: invalid
        ).addRoutes(to: &routes)
        ChangesController(
            service: service, box: box, access: access, metrics: metrics, logger: logger, tokens: tokens
        ).addRoutes(to: &routes)
        TokenController(tokens: configuration.accessTokens).addRoutes(to: &routes)
        ClientController().addRoutes(to: &routes)
        if let app = configuration.app { AppController(folder: app, logger: logger).addRoutes(to: &routes) }
        ConsoleController(mode: configuration.console).addRoutes(to: &routes)
        ClientsController(service: service, box: box, feed: changes.feed).addRoutes(to: &routes)
        RulesController(service: service, rules: rules, limits: configuration.wire).addRoutes(to: &routes)
        ActivityController(service: service, box: box).addRoutes(to: &routes)
        let admission = Admission(
            authentication: Authentication(tokens: tokens),
            pages: tokens == nil ? PageGuard(origins: configuration.allowedOrigins, host: configuration.host) : nil,
            minimum: configuration.minimumClients, rates: rates)
        return GatewayResponder(
            table: routes, admission: admission,
            crossOrigin: configuration.allowedOrigins.isEmpty ? nil : CrossOrigin(configuration.allowedOrigins),
            problems: problems, logger: logger, seconds: configuration.requestSeconds, metrics: metrics,
            logsFields: configuration.logsFields)
    }

    /// Serves requests until the service is shut down.
    ///
    /// - Throws: `ListenError` if the gateway cannot listen on its address.
    package func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await application.run()
            } onGracefulShutdown: {
                // Open event streams would prevent the shutdown.
                feed.close()
            }
        } catch let error as IOError {
            await close()
            throw ListenError(error, host: host, port: port)
        } catch {
            await close()
            throw error
        }
        await close()
    }

    /// Closes the database and the write-ahead journal for another gateway.
    private func close() async {
        await engine.close()
        await box.active?.journal?.ahead?.close()
    }
}
