import ArgumentParser
import FoundationEssentials
import Gateway
import Logging
import Operations
import RecordStore
import RuleFiles
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves the records of a database over HTTP and merges edits into it.",
        discussion: """
            Every option can also be set in the environment (FIELDMERGE_DATABASE, FIELDMERGE_MAX_BODY, …) or in a YAML \
            or JSON file with the same names. The command line overrides the environment, which overrides the file.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @OptionGroup var stateOptions: StateOptions

    @OptionGroup var retention: RetentionOptions

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("Address to listen on. (default: 127.0.0.1:8080)", valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp("File of the accepted tokens, made with “fieldmerge token new”.", valueName: "file"))
    var tokens: String?

    @OptionGroup(title: "Encryption") var tls: TLSOptions

    @OptionGroup(title: "Identity provider") var jwt: JWTOptions

    @OptionGroup(title: "Access tokens") var refresh: RefreshOptions

    @OptionGroup(title: "Clients") var clients: ClientOptions

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    @OptionGroup(title: "Changes") var changes: ChangeOptions

    @OptionGroup(title: "Limits") var limits: LimitOptions

    @Option(
        help: ArgumentHelp("Minutes between two readings of the database's schema. (default: 5)", valueName: "minutes"))
    var schemaInterval: Int?

    @Flag(help: "Starts with maintenance on: serves reads, but no pushes. SIGUSR2 ends it.")
    var maintenance = false

    @OptionGroup(title: "Web pages") var web: WebOptions

    @OptionGroup(title: "Log") var log: LogOptions

    func run() async throws {
        FreedMemory.goesBack()
        let (settings, logger, form) = try log.start(config)
        var configuration = try limits.configuration(settings)
        configuration.logsFields = form == .json
        configuration.invalidPushesPerDay = 50
        try clients.set(&configuration, settings)
        try changes.set(&configuration, settings)
        let address = try ListenAddress(settings.text(listen, .listen) ?? "127.0.0.1:8080")
        configuration.host = address.host
        configuration.port = address.port
        try web.set(&configuration, settings)
        configuration.certificate = try tls.certificate(settings)
        var access = try await access(settings, logger: logger)
        if let certificate = configuration.certificate {
            access.watches.append(CertificateWatch(certificate, logger: logger))
        }
        if let tokens = access.own { access.watches.append(TokenKeyWatch(tokens, logger: logger)) }
        configuration.accessTokens = access.own
        let verifier = access.verifier
        if verifier == nil { try Self.requireLoopback(configuration) }
        let bounds = DatabaseBounds(
            connections: try limits.connectionCount(settings), requestSeconds: configuration.requestSeconds)
        let days = try retention.days(settings)
        let history = try historyFile(settings)
        let password = try databaseOptions.serverPassword(settings)
        if let password, let file = password.file {
            access.watches.append(PasswordWatch(password: password.password, file: file, logger: logger))
        }
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: settings, bounds: bounds,
            password: password?.password)
        let engine = store.engine
        let loader = RulesLoader(
            folder: try settings.required(rules, .rules), engine: engine,
            knowsClients: verifier != nil,
            interval: .seconds(
                60 * (try settings.number(schemaInterval, .schemaInterval, default: 5, in: 1...10_000))),
            historyFile: history, logger: logger, journal: store.openServedJournal)
        if try settings.flag(maintenance, .maintenance) { loader.setMaintenance("--maintenance") }
        if let findings = try await start(loader, engine) {
            for finding in findings.sorted { print(finding) }
            await engine.close()
            throw SettingsError("the rules cannot be served; “fieldmerge check” prints the same findings")
        }
        try noteStart(loader, with: settings, of: configuration, to: logger)
        try await bound(&configuration, beside: bounds, logger)
        let place = address.host.contains(":") ? "[\(address.host)]" : address.host
        if verifier == nil {
            logger.warning(
                "without --tokens every program that reaches \(place) may read and write, through a proxy too")
        }
        let gateway = GatewayApplication(
            configuration: configuration, engine: engine, rules: loader, tokens: verifier, logger: logger,
            onListening: Self.note(at: place, configuration, logger: logger))
        let pruner = JournalPruner(
            rules: loader, keyDays: days.keys, entryDays: days.entries, changeDays: days.changes, logger: logger)
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // The last service stops first: pending writes need the database, which the gateway closes.
                services: (access.services + [loader, gateway, pruner]).map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await group.run()
        logger.notice("stopped")
    }

    /// Logs what this gateway serves, in one line.
    private func noteStart(
        _ loader: RulesLoader, with settings: Settings, of configuration: GatewayConfiguration, to logger: Logger
    ) throws {
        let rules = loader.box.summary
        let database = try settings.required(databaseOptions.database, .database)
        let journal = try journalOptions.file(settings, databaseOptions) ?? loader.box.journal?.name
        logger.notice(
            "started",
            metadata: [
                "version": "\(ProgramVersion.text)",
                "database": "\(Self.withoutAccount(database))",
                "journal": "\(journal ?? "not open yet")", "rules": "\(rules?.version ?? "not read yet")",
                "resources": .stringConvertible(rules?.resources ?? 0), "changes": "\(configuration.changesSource)",
            ])
    }

    /// Returns the address of a database without its user and its options.
    private static func withoutAccount(_ database: String) -> String {
        guard let scheme = database.firstRange(of: "://") else { return database }
        let rest = database[scheme.upperBound...].prefix { $0 != "?" }
        let server = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        return String(database[..<scheme.upperBound] + server)
    }

    /// Returns the file with the history of the database.
    ///
    /// - Throws: `SettingsError` if a gateway has used a journal, and its file is missing.
    private func historyFile(_ settings: Settings) throws -> HistoryFile {
        let history = stateOptions.file(
            settings, database: try settings.required(databaseOptions.database, .database),
            journal: settings.text(journalOptions.journal, .journal))
        guard let file = try journalOptions.file(settings, databaseOptions), history.knowsJournal,
            !FileManager.default.fileExists(atPath: file)
        else { return history }
        throw SettingsError(
            "the journal \(file) is missing, although a gateway has used it; restore it, or make an empty one with "
                + "“fieldmerge journal init”. Then every client takes a snapshot, and pushes that were first sent before are "
                + "refused")
    }

    /// Checks that a gateway without tokens listens only on loopback addresses.
    ///
    /// - Throws: `SettingsError` if it does not.
    private static func requireLoopback(_ configuration: GatewayConfiguration) throws {
        guard !configuration.isLoopback else { return }
        throw SettingsError(
            "without --tokens every program that reaches the address could read and change the data, so FieldMerge then listens "
                + "on loopback addresses alone; give --tokens FILE (see “fieldmerge token new”) or listen on 127.0.0.1")
    }

    private func access(_ settings: Settings, logger: Logger) async throws -> AccessSetup {
        let loader = try settings.text(tokens, .tokens).map { try TokensLoader(path: $0, logger: logger) }
        let own = try await refresh.tokens(
            settings, file: loader?.tokens, journalFile: try journalOptions.file(settings, databaseOptions),
            logger: logger)
        return AccessSetup(loader: loader, provider: try await jwt.access(settings, logger: logger), own: own)
    }

    /// Limits the number of clients to the files that the process may open.
    ///
    /// - Throws: `SettingsError` if there is no room for a client.
    private func bound(
        _ configuration: inout GatewayConfiguration, beside database: DatabaseBounds, _ logger: Logger
    ) async throws {
        // The concurrency runtime opens its files for timers now; later it would crash if it could not.
        try await Task.sleep(for: .nanoseconds(1), clock: .continuous)
        try await Task.sleep(for: .nanoseconds(1), clock: .suspending)
        let files = OpenFiles.raised()
        let wanted = configuration.clients
        configuration.clients = try files.clients(atMost: wanted, beside: database.connections)
        guard configuration.clients < wanted else { return }
        logger.warning(
            "there is room for \(configuration.clients) clients, not \(wanted): the process may have \(files.limit) files open"
        )
    }

    /// Returns the function that logs the port on which the gateway listens.
    private static func note(
        at place: String, _ configuration: GatewayConfiguration, logger: Logger
    ) -> @Sendable (Int) -> Void {
        let scheme = configuration.certificate == nil ? "http" : "https"
        return { [app = configuration.app?.path] port in
            let address = "\(scheme)://\(place):\(port)"
            if let app { logger.notice("serving the files in \(app) to everybody, at \(address)/app/") }
            logger.notice("listening on \(address)")
        }
    }

    private func start(_ loader: RulesLoader, _ engine: any RecordEngine) async throws -> Findings? {
        do {
            return try await loader.start()
        } catch {
            await engine.close()
            throw SettingsError("the journal cannot be used: \(error)")
        }
    }
}
