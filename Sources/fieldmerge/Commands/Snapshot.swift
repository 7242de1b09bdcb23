import ArgumentParser
import ChangeFeed
import MergeCore
import MergeService
import Operations
import RecordStore
import RuleFiles

/// `fieldmerge snapshot`.
struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes every record into a file, for apps that begin with all data.",
        discussion: """
            The file is what GET /v1/snapshot answers: one line of JSON for each record, the first with the feed and the \
            revision from which changes go on. Where its name ends in .gz it is packed. The database needs a journal.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("The file to write: NAME.ndjson or NAME.ndjson.gz.", valueName: "file"))
    var out: String

    @Option(
        help: ArgumentHelp("The resources to write, a comma between them. (default: all)", valueName: "names"))
    var resources: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        guard out.hasSuffix(".ndjson") || out.hasSuffix(".ndjson.gz") else {
            throw SettingsError("--out ends in .ndjson or .ndjson.gz, not “\(out)”")
        }
        let settings = try Settings(file: config)
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: settings, bounds: DatabaseBounds(connections: 2),
            makesFile: false)
        do {
            try await write(try settings.required(rules, .rules), store)
            await store.close()
        } catch {
            await store.close()
            throw error
        }
    }

    private func write(_ folder: String, _ store: Store) async throws {
        let journal = try await store.journal(for: .merging)
        let active: ActiveRules
        switch await RulesLoader.load(folder, against: store.engine) {
        case .active(let found, _):
            active = ActiveRules(
                catalog: found.catalog, schema: found.schema, dialect: store.engine.dialect, journal: journal)
        case .refused(let findings):
            for finding in findings.sorted { print(finding) }
            throw SettingsError("the rules cannot be served; “fieldmerge check” prints the same findings")
        case .unreachable(let error): throw error
        }
        guard let state = try await ChangeFeed(journal: { journal }).catchUp() else {
            throw SettingsError("the database has no journal, so nobody knows what will have changed")
        }
        let lines = SnapshotLines(
            service: .wire(store.engine), active: active, state: state, resources: try chosen(active.catalog),
            shown: ShownRecords(isOn: try await ForeignScan.isUsed(in: journal)))
        let file = try SnapshotFile(path: out)
        do {
            try await lines.write(patience: .seconds(300)) { bytes, records in try file.write(bytes, records: records) }
            try file.finish()
        } catch {
            file.drop()
            throw error
        }
    }

    private func chosen(_ catalog: Catalog) throws -> [Resource] {
        guard let resources else { return catalog.resources }
        let names = resources.split(separator: ",").map(String.init)
        for name in names where catalog[name] == nil {
            throw SettingsError(
                "“\(name)” is no resource" + NearestName.ending(for: name, among: catalog.resources.map(\.name)))
        }
        return catalog.resources.filter { names.contains($0.name) }
    }
}
