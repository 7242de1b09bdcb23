import Logging
import MergeService
import Operations
import RecordStore
import RuleFiles
import SQLiteStore
import Testing
import TestSupport

@testable import Gateway

/// A gateway in this process, on a free port, for as long as a closure runs.
struct RunningGateway: Sendable {
    let port: Int
    let database: TestDatabase
    private let box: RulesBox

    /// Has the rules and the schema read again.
    func askForReload() { box.askForReload() }

    /// - Parameters:
    ///   - rules: the rule files by name; nil for those of `MergeRules`.
    ///   - tokens: the text of a tokens file; nil to use the verifier.
    ///   - verifier: authenticates requests; nil to accept all.
    ///   - stage: when the gateway is killed, and how it compares rows; nil for the normal behaviour.
    ///   - log: receives the lines of the log.
    ///   - journal: where the journal is. All gateways on the database share it. Root creates it before the start.
    static func with<Answer: Sendable>(
        _ database: TestDatabase, rules: [String: String]? = nil, tokens: String? = nil, journal: JournalPlace? = nil,
        verifier: (any TokenVerifier)? = nil, stage: Stage? = nil, log: KeptLog? = nil,
        configure: (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningGateway) async throws -> Answer
    ) async throws -> Answer {
        let folder = try TemporaryFolder()
        for (name, text) in rules ?? [:] { try await Shell.run(["tee", folder.path + "/" + name], input: text) }
        var configuration = GatewayConfiguration()
        configuration.port = 0
        configure(&configuration)
        var logger = Logger(label: "test") { _ in log?.handler ?? SwiftLogNoOpLogHandler() }
        if log == nil { logger.logLevel = .critical }
        if journal == .together { try await database.initJournal() }
        let engine = try database.engine(journal: journal == .together, on: stage)
        let loader = RulesLoader(
            folder: rules == nil ? Repository.root + "MergeRules" : folder.path, engine: engine,
            knowsClients: tokens != nil || verifier != nil, logger: logger
        ) { () async throws(StoreError) in
            switch journal {
            case nil: return .off
            case .together:
                let name = "fieldmerge_" + database.name
                let schema = database.kind == .sqlite ? JournalTables.attachedName : name
                return .together(try await JournalOpener(engine: engine, schema: schema).open())
            case .ahead:
                let store = try SQLiteEngine(path: database.journalFile, creates: true)
                try store.claim()
                return .ahead(try await JournalOpener(ahead: store, of: engine).open(), place: database.journalFile)
            }
        }
        if let findings = try await loader.start() {
            throw Shell.Failure(description: findings.sorted.map(\.description).joined(separator: "\n"))
        }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let gateway = GatewayApplication(
            configuration: configuration, engine: engine, rules: loader,
            tokens: try tokens.map { KnownTokens(try TokenFile(text: $0, path: "tokens")) as any TokenVerifier }
                ?? verifier,
            logger: logger
        ) { number in
            port.yield(number)
        }
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                try await gateway.run()
                return nil
            }
            group.addTask {
                try await loader.run()
                return nil
            }
            group.addTask {
                for await at in ports { return try await body(Self(port: at, database: database, box: loader.box)) }
                throw Shell.Failure(description: "the gateway did not listen")
            }
            defer { group.cancelAll() }
            while let answer = try await group.next() {
                if let answer { return withExtendedLifetime(folder) { answer } }
            }
            throw Shell.Failure(description: "the gateway ended early")
        }
    }

    /// Runs two gateways on a MariaDB database.
    ///
    /// On SQLite, which allows one gateway, both parameters are the same gateway.
    static func withTwo<Answer: Sendable>(
        _ database: TestDatabase, rules: [String: String],
        configure: @escaping @Sendable (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningGateway, RunningGateway) async throws -> Answer
    ) async throws -> Answer {
        try await with(database, rules: rules, journal: .together, configure: configure) { one async throws in
            if database.kind == .sqlite { return try await body(one, one) }
            return try await with(database, rules: rules, journal: .together, configure: configure) {
                two async throws in
                try await body(one, two)
            }
        }
    }

    /// Sends requests over one connection.
    func client<Answer: Sendable>(
        token: String? = nil, _ body: @escaping @Sendable (HTTPClient.Session) async throws -> Answer
    ) async throws -> Answer {
        try await HTTPClient.with(port: port, token: token, body)
    }
}

extension TestDatabase {
    /// Makes the journal as `journal init --grant-to` does: root makes its schema and tables, and the gateway's account
    /// gets the rights that are printed.
    func initJournal() async throws {
        guard kind == .mariadb else { return }
        let engine = try asRoot.engine()
        let journal = try await JournalOpener(engine: engine, schema: journalName).open(createsSchema: true)
        await engine.close()
        try await runAsOperator(journal.tables.grant(to: accountSQL))
    }

    /// Makes the tables of the journal on either engine.
    func beginJournal() async throws {
        guard kind == .sqlite else { return try await initJournal() }
        let engine = try engine(journal: true)
        _ = try await JournalOpener(engine: engine, schema: JournalTables.attachedName).open()
        await engine.close()
    }
}

extension TestDatabase {
    /// Runs SQL on the tables of the journal, wherever it is.
    func run(_ sql: String, onJournal place: JournalPlace) async throws {
        if place == .together || kind == .sqlite {
            try await runOnJournal(sql)
        } else {
            try await Shell.run(["sqlite3", "-bail", journalFile], input: ".timeout 5000\n" + sql)
        }
    }
}

/// The place in which a gateway of the tests keeps its journal.
enum JournalPlace: Sendable {
    case together
    case ahead
}

extension HTTPClient.Answer {
    /// The body as JSON.
    func json() throws -> JSON { try JSON(body) }
}
