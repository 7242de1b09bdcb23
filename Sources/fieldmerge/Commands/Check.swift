import ArgumentParser
import Operations
import MergeService
import RecordStore
import RuleFiles
import SystemPackage

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks rule files, by themselves or against a database, and prints every finding.",
        discussion: """
            The exit code is 1 if there is an error. “serve” accepts rules with warnings. With a database, the command also \
            checks that the journal belongs to the database.

            With --grants only the statements go to standard output, to be piped into the database's own client. Run it as \
            an account that sees all tables, such as the server's administrator: the gateway's own account does not see \
            the tables that it still lacks rights on.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Flag(help: "Prints the GRANT statements that the rules need, and everything else to standard error.")
    var grants = false

    @Flag(help: "With --grants: rights on the columns that the rules name instead of on whole tables.")
    var columns = false

    @Option(
        help: ArgumentHelp(
            "The account for --grants, as SQL spells it. (default: 'fieldmerge'@'%')", valueName: "account"))
    var grantTo: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let settings = try Settings(file: config)
        if grants, settings.text(databaseOptions.database, .database)?.hasPrefix("sqlite:") == true {
            throw SettingsError("--grants is for MariaDB; a SQLite file has only the rights of the file system")
        }
        if columns, !grants { throw SettingsError("--columns needs --grants") }
        let folder = try settings.required(rules, .rules)
        let (findings, grantLines) = try await load(folder, settings: settings)
        for finding in findings.sorted { try say("\(finding)") }
        // Grants are needed before there is a journal, and by another account than the gateway's.
        let faults = grants ? [] : [try await journalFault(settings), try await logFault(settings)].compactMap(\.self)
        for fault in faults { try say("error: \(fault)") }
        let counts = [(Finding.Severity.error, "error"), (.warning, "warning"), (.note, "note")].map { severity, name in
            let count = findings.count(severity) + (severity == .error ? faults.count : 0)
            return "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        try say(counts.joined(separator: ", "))
        for line in grantLines { print(line) }
        if findings.hasErrors || !faults.isEmpty { throw ExitCode(1) }
    }

    /// Prints findings to standard error if the output is SQL.
    private func say(_ line: String) throws {
        guard grants else { return print(line) }
        try FileDescriptor.standardError.writeAll(Array((line + "\n").utf8))
    }

    /// Returns the reason why the journal of `serve` cannot be used; nil if it can, or does not exist yet.
    private func journalFault(_ settings: Settings) async throws -> String? {
        guard settings.text(databaseOptions.database, .database) != nil else { return nil }
        return try await JournalCheck(databaseOptions, journal: journalOptions, settings: settings).fault()
    }

    /// Returns the reason why `--keep-foreign` of `serve` cannot keep anything; nil if it can, or is not set.
    private func logFault(_ settings: Settings) async throws -> String? {
        guard settings.text(databaseOptions.database, .database) != nil, try settings.flag(false, .keepForeign) else {
            return nil
        }
        let engine = try databaseOptions.engine(settings, bounds: DatabaseBounds())
        let refusal: String?
        do throws(StoreError) {
            let log = engine.rowLog
            refusal = log == nil ? "the database has no binary log" : try await log?.refusal(keepsValues: true)
        } catch {
            refusal = error.description
        }
        await engine.close()
        return refusal.map { "--keep-foreign cannot read the binary log: \($0)" }
    }

    /// Reads the rules, and compares them with the database if one is named.
    ///
    /// - Returns: the findings, and the statements for `--grants` if the rules are valid.
    private func load(_ folder: String, settings: Settings) async throws -> (Findings, grants: [String]) {
        guard settings.text(databaseOptions.database, .database) != nil else {
            if grants { throw SettingsError("--grants needs --database, to read the tables") }
            return (RuleFolder(path: folder).findings, [])
        }
        let engine = try databaseOptions.engine(settings, bounds: DatabaseBounds())
        let outcome = await RulesLoader.load(folder, against: engine)
        await engine.close()
        switch outcome {
        case .active(let active, let findings):
            guard grants else { return (findings, []) }
            let statements = GrantStatements(
                active.catalog, in: active.schema, to: grantTo ?? "'fieldmerge'@'%'", as: engine.dialect)
            return (findings, (columns ? statements.onColumns : statements.onTables) + [statements.ofLog])
        case .refused(let findings): return (findings, [])
        case .unreachable(let error): throw SettingsError("the rules were not checked: \(error)")
        }
    }
}
