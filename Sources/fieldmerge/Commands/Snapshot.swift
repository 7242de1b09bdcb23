import ArgumentParser
import ChangeFeed
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore
import RuleFiles

struct Snapshot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes every record into a file, for apps that begin with all data.",
        discussion: """
            The file contains the answer of GET /v1/snapshot: one line of JSON for each record. The first line names the \
            feed and the revision after which changes continue. A name that ends in .gz makes a compressed file. A name \
            that ends in .sqlite makes a store for the clients for Swift and Python. The database needs a journal.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("The file to write: NAME.ndjson, NAME.ndjson.gz or NAME.sqlite.", valueName: "file"))
    var out: String

    @Option(
        help: ArgumentHelp("The resources to write, separated by commas. (default: all)", valueName: "names"))
    var resources: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The roles of the app's tokens, separated by commas, if there are access rules.",
            valueName: "roles"))
    var roles: String?

    @Option(help: ArgumentHelp("The claims of these tokens, as a JSON object.", valueName: "json"))
    var claims: String?

    @Option(help: ArgumentHelp("The name of the tokens, for rules that test “who”.", valueName: "name"))
    var who: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        guard [".ndjson", ".ndjson.gz", ".sqlite"].contains(where: out.hasSuffix) else {
            throw SettingsError("--out ends in .ndjson, .ndjson.gz or .sqlite, not “\(out)”")
        }
        let settings = try Settings(file: config)
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: settings, bounds: DatabaseBounds(connections: 2),
            makesFile: false)
        do {
            try await write(try settings.required(rules, .rules), store: store)
            await store.close()
        } catch {
            await store.close()
            throw error
        }
    }

    private func write(_ folder: String, store: Store) async throws {
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
            throw SettingsError("the database has no journal, so later changes would be unknown")
        }
        let access = try access(to: active.catalog)
        let lines = SnapshotLines(
            service: .wire(store.engine), active: active, state: state.named(for: access),
            resources: try chosen(active.catalog.readable(by: access)), viewer: access?.viewer,
            shown: ShownRecords(isOn: try await ForeignScan.isUsed(in: journal)))
        let file = try target(for: active.catalog, access?.viewer)
        do {
            try await lines.write(patience: .seconds(300)) { bytes, records in try file.write(bytes, records: records) }
            try file.finish()
        } catch {
            file.drop()
            throw error
        }
    }

    private func target(for catalog: Catalog, _ viewer: Viewer?) throws -> any SnapshotTarget {
        guard out.hasSuffix(".sqlite") else { return try SnapshotFile(path: out) }
        // A client replaces these limits when it next reads the rules.
        let rules = RulesEncoder.encode(catalog, for: viewer, limits: WireLimits(), page: 500)
        return try SnapshotDatabase(path: out, rules: rules)
    }

    /// Returns the access of the snapshot's clients; nil without access rules.
    private func access(to catalog: Catalog) throws -> ClientAccess? {
        guard catalog.hasAccessRules else {
            if roles != nil || claims != nil {
                throw SettingsError("no resource has “access”, so --as changes nothing")
            }
            return nil
        }
        guard let roles else {
            throw SettingsError("some resources have “access”: name the roles of the snapshot with --as")
        }
        let read: AccessClaims
        do {
            read =
                try claims.map { text throws(Problem) in try ClaimsDecoder.decode(Array(text.utf8)) } ?? AccessClaims()
        } catch {
            throw SettingsError("--claims is a JSON object: \(error.detail)")
        }
        let names = Set(roles.split(separator: ",").map { ExactText(String($0)) })
        return ClientAccess(Viewer(who: who ?? "", roles: names, claims: read), to: catalog)
    }

    private func chosen(_ readable: [Resource]) throws -> [Resource] {
        guard let resources else { return readable }
        let names = resources.split(separator: ",").map(String.init)
        for name in names where !readable.contains(where: { $0.name == name }) {
            throw SettingsError(
                "“\(name)” is not a resource" + NearestName.ending(for: name, among: readable.map(\.name)))
        }
        return readable.filter { names.contains($0.name) }
    }
}
