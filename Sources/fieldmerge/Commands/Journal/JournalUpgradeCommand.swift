import ArgumentParser
import Operations

struct JournalUpgradeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade", abstract: "Upgrades the journal of an older version of FieldMerge.",
        discussion: """
            Without --yes the command prints the steps and writes nothing. Its exit code is then 2 if the gateway's user \
            lacks rights for the steps: run it as a database user that may create tables. Otherwise “serve” upgrades the \
            journal when it starts. First stop all gateways of the older version.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    @Flag(help: "Upgrades the journal.")
    var yes = false

    func run() async throws {
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: try Settings(file: config), bounds: DatabaseBounds(),
            makesFile: false)
        let plan: JournalUpgrade
        do {
            plan = try await store.plannedUpgrade()
            if yes, !plan.isCurrent { _ = try await store.initJournal() }
        } catch {
            await store.close()
            throw error
        }
        await store.close()
        print(Self.text(plan, isDone: yes))
        if !yes, plan.needsAdministrator { throw ExitCode(2) }
    }

    /// The rows of the feed that a second suffices for, at least.
    private static let rowsPerSecond = 100_000

    private static func text(_ plan: JournalUpgrade, isDone: Bool) -> String {
        if plan.isCurrent { return "the journal “\(plan.journal)” is of version \(plan.to), which this program uses" }
        var lines = ["the journal “\(plan.journal)” is of version \(plan.from); this program uses version \(plan.to)"]
        if plan.makesTables { lines.append("- missing tables and columns are made; existing rows stay") }
        if plan.beginsFeed { lines.append("- a new feed begins, so every client takes a snapshot once") }
        lines.append(
            "- at most \(max(1, plan.rows / rowsPerSecond)) s to read \(plan.rows) changes, beside making tables")
        if isDone { return (lines + ["upgraded"]).joined(separator: "\n") }
        if plan.isInUse { lines.append("- a gateway uses the journal now: stop it first") }
        lines.append(
            plan.needsAdministrator
                ? "- the database user must be one that may make tables" : "- “fieldmerge serve” does this at its start"
        )
        return (lines + ["nothing was written: this is a preview; --yes upgrades"]).joined(separator: "\n")
    }
}
