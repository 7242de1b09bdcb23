import ArgumentParser
import Gateway
import RecordStore
import RuleFiles

/// `fieldmerge check`.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks rule files, by themselves or against a database, and prints every finding.",
        discussion: "Exits with 1 where there is an error. A warning does not keep the rules from being served.")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let settings = try await Settings(file: config)
        let folder = try settings.required(rules, "rules")
        let findings = try await findings(folder, settings)
        for finding in findings.sorted { print(finding) }
        let errors = findings.all.filter { $0.severity == .error }.count
        let warnings = findings.all.count - errors
        print("\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")")
        if errors > 0 { throw ExitCode(1) }
    }

    private func findings(_ folder: String, _ settings: Settings) async throws -> Findings {
        guard settings.text(databaseOptions.database, "database") != nil else {
            return RuleFolder(path: folder).findings
        }
        let engine = try databaseOptions.engine(settings, connections: 1)
        let outcome = await RulesLoader.load(folder, engine)
        await engine.close()
        switch outcome {
        case .served(_, let findings), .refused(let findings): return findings
        case .unreachable(let error): throw SettingsError("the rules were not checked: \(error)")
        }
    }
}
