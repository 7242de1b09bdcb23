import ArgumentParser
import MergeWire
import Operations

struct RulesRehearse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Decides the journal's entries again under new rules, and prints differences.",
        discussion: """
            The command decides each entry from its values, under the active rules and under the new rules. It writes \
            nothing, and gateways may run meanwhile. Only the database can evaluate “where”, “checks” and “frozen-when”, \
            and rights are not evaluated. Outcomes that cannot be judged are counted by reason. The exit code is 0 if all \
            judged outcomes are equal, 3 if some differ, and 1 if the rules or the journal cannot be used.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the new rule files (*.yaml).", valueName: "dir"))
    var rules: String

    @Option(
        help: ArgumentHelp(
            "Folder of the active rule files. (default: FIELDMERGE_RULES or “rules” of the settings file)",
            valueName: "dir"))
    var active: String?

    @Option(
        help: ArgumentHelp(
            "Only entries since this time: 30d, 2026-11-20 or 2026-11-20T10:00:00Z.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only entries of this resource.", valueName: "name"))
    var resource: String?

    @Flag(help: "Prints JSON with complete values, for programs.")
    var json = false

    /// The exit code if some outcomes differ.
    private static let differs = ExitCode(3)

    func run() async throws {
        let report = try await access.with { desk, settings in
            guard let folder = settings.text(active, .rules) else {
                throw SettingsError(
                    "--active is missing; give the folder of the active rules, set FIELDMERGE_RULES or write “rules” "
                        + "into the settings file")
            }
            var progress = ProgressLine("entries")
            let report = try await desk.rehearse(
                active: folder, new: rules, resource: resource, since: since
            ) { done in
                progress.estimate = done.estimate
                try progress.set(done.entries)
            }
            try progress.finish()
            return report
        }
        if json {
            print(String(decoding: RehearsalEncoder.encode(report), as: UTF8.self))
        } else {
            print(RehearsalText(report).text)
        }
        if report.different > 0 { throw Self.differs }
    }
}
