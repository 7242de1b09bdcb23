import FoundationEssentials
package import Logging
import MergeCore
package import MergeService
package import RecordStore
package import RuleFiles
import ServiceLifecycle
import UnixSignals

/// Reads the rule files and the schema at start and again later.
///
/// It reads them on SIGHUP, after a change of a file, after an error because of the schema, and every few minutes.
/// Rules with errors change nothing: the old rules stay active.
package struct RulesLoader: Service {
    private let folder: String
    private let engine: any RecordEngine
    private let logger: Logger
    private let interval: Duration
    /// True if the gateway can identify clients; else access rules are an error.
    private let knowsClients: Bool
    private let openJournal: @Sendable () async throws(StoreError) -> JournalStatus
    /// Detects that data or journal went back in time.
    package let history: HistoryGuard
    /// The active rules.
    package let box = RulesBox()

    private static let look = Duration.seconds(2)
    private static let patience = Duration.seconds(10)

    /// - Parameters:
    ///   - interval: the time after which the schema is read again anyway.
    ///   - historyFile: stores the position in the history; nil keeps it in memory only.
    package init(
        folder: String, engine: any RecordEngine, knowsClients: Bool, interval: Duration = .seconds(300),
        historyFile: HistoryFile? = nil, logger: Logger,
        journal: @escaping @Sendable () async throws(StoreError) -> JournalStatus
    ) {
        openJournal = journal
        history = HistoryGuard(engine: engine, file: historyFile, logger: logger)
        self.folder = folder
        self.engine = engine
        self.interval = interval
        self.knowsClients = knowsClients
        self.logger = logger
    }

    /// The result of reading a folder of rules with a database.
    package enum Outcome: Sendable {
        /// The rules are valid; the findings are no errors.
        case active(ActiveRules, Findings)
        /// The rules have errors.
        case refused(Findings)
        /// The database could not be queried.
        case unreachable(StoreError)
    }

    /// Reads the rules and binds them to the schema.
    ///
    /// - Parameter former: the active rules; nil makes every misfit an error. If a changed table no longer fits the
    ///   rules of a resource, it keeps its former rules and is out of service.
    package static func load(
        _ folder: String, against engine: any RecordEngine, knowsClients: Bool = true, former: ActiveRules? = nil
    ) async -> Outcome {
        await load(RuleFolder(path: folder), against: engine, knowsClients: knowsClients, former: former)
    }

    /// The rule files of the gateway as they are now; reading them blocks the thread.
    package var ruleFolder: RuleFolder { RuleFolder(path: folder) }

    /// Binds rules to the schema.
    ///
    /// - Parameter probesSQL: false to leave the operator's SQL in the files unchecked, so that none of it runs.
    package static func load(
        _ rules: RuleFolder, against engine: any RecordEngine, knowsClients: Bool = true, former: ActiveRules? = nil,
        probesSQL: Bool = true
    ) async -> Outcome {
        if rules.files.isEmpty { return .refused(rules.findings) }
        if !knowsClients, let place = rules.accessPlace {
            var findings = rules.findings
            findings.error(
                place, "access rules need tokens. Start with --tokens or --jwt-keys, or remove “access”")
            return .refused(findings)
        }
        do {
            let (rules, schema) = try await resolved(rules, in: engine, former: former)
            let probe = SQLProbe(engine: engine, schema: schema, patience: patience)
            let (bound, first) = RuleBinder.bind(rules, to: schema)
            var findings = first
            if probesSQL, let bound { findings = try await probe.findings(of: rules, bound: bound, adding: first) }
            if let bound, !findings.hasErrors {
                return .active(ActiveRules(catalog: bound, schema: schema, dialect: engine.dialect), findings)
            }
            guard let former,
                let partial = try await withoutMisfits(findings, in: rules, schema, former: former, probe: probe)
            else { return .refused(findings) }
            return .active(partial, findings)
        } catch {
            return .unreachable(error)
        }
    }

    /// Reads the tables of the rules, and those to which their lookups refer; resolves the names of the tables.
    private static func resolved(
        _ rules: RuleFolder, in engine: any RecordEngine, former: ActiveRules?
    ) async throws(StoreError) -> (RuleFolder, DatabaseSchema) {
        let tables = rules.files.flatMap(\.tables)
        let schema = try await engine.schema(of: tables, deadline: .now.advanced(by: patience))
        // A table that is gone keeps the name that it had.
        let gone = (former?.schema.spellings ?? [:]).filter { schema.tables[$0.key] == nil }
        let resolved = rules.resolved(by: gone.merging(schema.spellings) { $1 })
        let referred = resolved.referredTables(missingIn: schema)
        if referred.isEmpty { return (resolved, schema) }
        return (resolved, try await engine.schema(of: tables + referred, deadline: .now.advanced(by: patience)))
    }

    /// Returns rules with the faulty resources out of service; nil if the rule files themselves have errors.
    ///
    /// If a resource is unchanged with its former tables, its tables have changed and not its file.
    private static func withoutMisfits(
        _ findings: Findings, in rules: RuleFolder, _ schema: DatabaseSchema, former: ActiveRules, probe: SQLProbe
    ) async throws(StoreError) -> ActiveRules? {
        let faulty = findings.filesWithErrors
        let misfits = rules.files.filter { faulty.contains($0.path) }
        let schema = schema.with(misfits.flatMap(\.tables), from: former.schema)
        guard let bound = RuleBinder.bind(rules, to: schema).catalog,
            misfits.allSatisfy({ bound[$0.name] == former.catalog[$0.name] })
        else { return nil }
        let others = try await probe.findings(of: rules, bound: bound, adding: Findings())
        guard others.filesWithErrors.isSubset(of: faulty) else { return nil }
        return ActiveRules(
            catalog: bound, schema: schema, dialect: probe.engine.dialect, outOfService: Set(misfits.map(\.name)))
    }

    /// Runs the first reading, which decides if the gateway starts.
    ///
    /// - Returns: the errors that prevent the start; nil if it may start, even without a reachable database.
    /// - Throws: `StoreError` if the journal cannot be used.
    package func start() async throws(StoreError) -> Findings? {
        let reading = box.beginReading()
        switch await Self.load(folder, against: engine, knowsClients: knowsClients) {
        case .active(let active, let findings):
            for finding in findings.sorted where finding.severity == .warning { logger.warning("\(finding)") }
            try await serve(active, findings: findings, of: reading, isStart: true)
            return nil
        case .refused(let findings): return findings
        case .unreachable(let error):
            box.note([error.description], of: reading)
            logger.error("the database cannot be reached yet", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Reads rules and schema again after changes and on SIGHUP, until the service is shut down.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch() }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    logger.notice("reading the rules again on SIGHUP")
                    await reload()
                }
            }
            group.addTask {
                for await signal in await UnixSignalsSequence(trapping: .sigusr1, .sigusr2).cancelOnGracefulShutdown() {
                    setMaintenance(signal == .sigusr1 ? "SIGUSR1" : nil)
                }
            }
            group.addTask {
                for await _ in box.reloadRequests.cancelOnGracefulShutdown() { await reload() }
            }
            await group.waitForAll()
        }
    }

    /// Switches maintenance on for a reason; nil switches it off.
    package func setMaintenance(_ reason: String?) {
        box.maintenance.set(reason)
        if let reason {
            logger.warning("maintenance begins: \(reason)")
        } else {
            logger.notice("maintenance has ended")
        }
    }

    /// Checks the files every two seconds, and the schema every few minutes.
    ///
    /// While the database is absent or there is trouble, it reads again at every check: the remedy may change no file.
    private func watch() async {
        var known = fingerprint()
        var last = ContinuousClock.now
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.look) }
            let seen = fingerprint()
            let isDue = ContinuousClock.now - last >= interval
            guard seen != known || isDue || box.active == nil || !box.trouble.isEmpty || box.hasLostRights
            else { continue }
            let gone = Self.names(known).filter { !Self.names(seen).contains($0) }
            let before = resources
            known = seen
            last = .now
            await reload()
            tell(gone, servedBefore: before)
        }
    }

    private var resources: [String] { box.active?.catalog.resources.map(\.name) ?? [] }

    /// Warns of removed files: a resource that vanishes silently looks like a fault of the clients.
    private func tell(_ gone: [String], servedBefore before: [String]) {
        guard !gone.isEmpty else { return }
        let lost = before.filter { !resources.contains($0) }.map { "“\($0)”" }
        let what = lost.count == 1 ? "is served no more" : "are served no more"
        let rest = lost.isEmpty ? "; every resource is served on" : ": \(lost.joined(separator: ", ")) \(what)"
        let files = gone.map { folder.hasSuffix("/") ? folder + $0 : folder + "/" + $0 }
        logger.warning("\(files.joined(separator: ", ")) \(files.count == 1 ? "is" : "are") gone\(rest)")
    }

    /// Reads the rules and the schema again.
    ///
    /// Readings may overlap. The one that began last counts.
    func reload() async {
        let reading = box.beginReading()
        defer { box.release(after: reading) }
        switch await Self.load(folder, against: engine, knowsClients: knowsClients, former: box.active) {
        case .active(let active, let findings):
            let before = box.active?.catalog.version
            let isInstalled: Bool
            do {
                isInstalled = try await serve(active, findings: findings, of: reading, isStart: false)
            } catch {
                let former = box.trouble
                if box.note([error.description], of: reading), box.trouble != former {
                    logger.error("the journal cannot be used", metadata: ["error": "\(error)"])
                }
                return
            }
            if isInstalled, before != active.catalog.version {
                logger.notice("serving the rules", metadata: ["version": "\(active.catalog.version)"])
            }
        case .refused(let findings):
            let former = box.trouble
            if box.note(findings.errors, findings: findings.sorted, of: reading) {
                log(findings.errors, unless: former)
            }
        case .unreachable(let error):
            if box.active == nil { box.note([error.description], of: reading) }
        }
    }

    private func log(_ errors: [String], unless former: [String]) {
        if errors == former { return }
        for error in errors { logger.error("\(error)") }
    }

    /// Installs rules together with the journal, which is opened once.
    ///
    /// - Returns: false if a later reading has ended, or the journal cannot be used for now.
    @discardableResult
    private func serve(
        _ active: ActiveRules, findings: Findings, of reading: RulesBox.Reading, isStart: Bool
    ) async throws(StoreError) -> Bool {
        let journal: JournalStatus
        if let kept = box.journal {
            journal = kept
        } else {
            do {
                try engine.claim()
                journal = try await openJournal()
                if let open = journal.journal { try await history.check(open, isStart: true) }
            } catch {
                guard isStart, error.mayPass else { throw error }
                logger.error("the gateway is not ready", metadata: ["error": "\(error)"])
                box.note([error.description], of: reading)
                return false
            }
            if case .off = journal {
                logger.warning("\(journal.promise)")
            } else {
                logger.notice("\(journal.promise)")
            }
        }
        let complete = ActiveRules(
            catalog: active.catalog, schema: active.schema, dialect: engine.dialect, journal: journal.journal,
            outOfService: active.outOfService)
        if box.journal == nil {
            do {
                try await MergeService.wire(engine).recover(complete, until: .now.advanced(by: Self.patience))
            } catch {
                guard isStart, error.mayPass else { throw error }
                box.note([error.description], of: reading)
                return false
            }
        }
        let (former, formerRights) = (box.trouble, box.missingRights)
        let (errors, rights) = (findings.errors, findings.missingRights)
        guard
            box.install(
                complete, journal, trouble: errors, missingRights: rights, findings: findings.sorted, of: reading)
        else { return false }
        log(errors, unless: former)
        if !isStart { for right in rights where !formerRights.contains(right) { logger.warning("\(right)") } }
        return true
    }

    /// The attributes of a rule file that a write changes.
    private struct Fingerprint: Equatable {
        let name: String
        let size: Int
        let time: Double
    }

    private static func names(_ prints: [Fingerprint]) -> [String] { prints.map(\.name) }

    private func fingerprint() -> [Fingerprint] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted().map { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return Fingerprint(
                name: name, size: attributes?[.size] as? Int ?? 0,
                time: (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0)
        }
    }
}

extension StoreError {
    /// True if the error may be temporary, so that a gateway starts anyway.
    fileprivate var mayPass: Bool { [.unavailable, .unwritable, .busy, .fileLocked, .unknownOutcome].contains(kind) }
}
