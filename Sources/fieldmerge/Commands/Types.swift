import ArgumentParser
import FoundationEssentials
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore
import RuleFiles

struct Types: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes the types of all records in the language of an app.",
        discussion: """
            Prints TypeScript interfaces, Swift structs or Python dataclasses, for “store.of”. The rules come from a running \
            gateway (--server), as its client reads them, or from rule files and their database (--rules, --database). Equal \
            rules result in equal text.
            """)

    @Option(help: "typescript, swift or python.")
    var language: ClientLanguage

    @Option(help: ArgumentHelp("Address of a gateway, instead of --rules.", valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("File that contains a token for --server.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "With --rules: the roles of the app's tokens, separated by commas. (default: all readable fields)",
            valueName: "roles"))
    var roles: String?

    @Option(
        help: ArgumentHelp(
            "RESOURCE=NAME: the name for the types of a resource; may be repeated.", valueName: "name")
    )
    var name: [String] = []

    @Option(
        help: ArgumentHelp("The module of the client library in TypeScript. (default: fieldmerge)", valueName: "module")
    )
    var module: String?

    @Option(help: ArgumentHelp("The file to write. (default: standard output)", valueName: "file"))
    var out: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func validate() throws {
        if server != nil, rules != nil || databaseOptions.database != nil || roles != nil {
            throw ValidationError("--server is used without --rules, --database and --as.")
        }
        if server == nil, tokenFile != nil { throw ValidationError("--token-file needs --server.") }
        if module != nil, language != .typescript { throw ValidationError("--module needs --language typescript.") }
    }

    func run() async throws {
        let names = try chosenNames()
        let described: String
        if let server {
            described = try await ServedRules(server, tokenFile: tokenFile).text()
        } else {
            described = try await rulesOfFiles()
        }
        let text: String
        do {
            text = try ClientTypes.text(of: described, in: language, names: names, module: module ?? "fieldmerge")
        } catch {
            throw SettingsError(error.description)
        }
        guard let out else { return print(text, terminator: "") }
        do {
            try Data(text.utf8).write(to: URL(filePath: out))
        } catch {
            throw SettingsError("\(out) cannot be written")
        }
    }

    private func chosenNames() throws -> [String: String] {
        var names: [String: String] = [:]
        for pair in name {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw SettingsError("--name is RESOURCE=NAME, not “\(pair)”") }
            names[parts[0]] = parts[1]
        }
        return names
    }

    /// Returns what `GET /v1/rules` would answer.
    private func rulesOfFiles() async throws -> String {
        let settings = try Settings(file: config)
        let folder = try settings.required(rules, .rules)
        let engine = try databaseOptions.engine(settings, bounds: DatabaseBounds(connections: 2))
        let outcome = await RulesLoader.load(folder, against: engine)
        await engine.close()
        switch outcome {
        case .active(let active, _):
            let viewer = try viewer(of: active.catalog)
            let bytes = RulesEncoder.encode(active.catalog, for: viewer, limits: WireLimits(), page: 500)
            return String(decoding: bytes, as: UTF8.self)
        case .refused(let findings):
            let lines = findings.sorted.map(\.description).joined(separator: "\n")
            throw SettingsError("\(lines)\nthe rules cannot be served; “fieldmerge check” prints the same findings")
        case .unreachable(let error): throw error
        }
    }

    private func viewer(of catalog: Catalog) throws -> Viewer? {
        guard let roles else { return nil }
        guard catalog.hasAccessRules else {
            throw SettingsError("no resource has “access”, so --as changes nothing")
        }
        return Viewer(
            who: "", roles: Set(roles.split(separator: ",").map { ExactText(String($0)) }), claims: AccessClaims())
    }
}

extension ClientLanguage: ExpressibleByArgument {}
