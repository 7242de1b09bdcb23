import ArgumentParser
import Operations
import SQLiteStore

struct JournalRestored: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restored",
        abstract: "Makes data, journal and clients consistent after a restore or a failover.",
        discussion: """
            Compares the restored journal with a newer copy, if one is given, and with the data. Begins a new feed, so that \
            every client takes a snapshot. Copies entries and keys of the newer journal. Prints statements that raise the \
            counters of generated keys, and the merged pushes that are missing in the data. First stop the gateways, or \
            start them with --maintenance.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(
        help: ArgumentHelp(
            "The journal from before the restore: same-server:SCHEMA or sqlite:FILE.", valueName: "where"))
    var newer: String?

    @Flag(help: "Merges pushes that are missing in the data again.")
    var rollForward = false

    @Flag(help: "Reports the steps, and writes nothing.")
    var preview = false

    func run() async throws {
        guard newer != nil || !rollForward else {
            throw SettingsError("--roll-forward needs --newer, the journal that contains the pushes")
        }
        let report = try await access.withStore(for: .merging) { desk, settings, store in
            let copy = try await newer.asyncMap { try await store.copy(at: $0) }
            let folder = try settings.required(rules, .rules)
            do {
                let report = try await desk.restored(
                    newer: copy?.journal, rules: folder, rollsForward: rollForward, isPreview: preview)
                await copy?.file?.close()
                return report
            } catch {
                await copy?.file?.close()
                throw error
            }
        }
        print(RestoreText(report, rollsForward: rollForward).text)
        if report.missing.contains(where: { $0.problem != nil }) { throw ExitCode(1) }
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncMap<Other>(_ body: (Wrapped) async throws -> Other) async rethrows -> Other? {
        if let self { try await body(self) } else { nil }
    }
}
