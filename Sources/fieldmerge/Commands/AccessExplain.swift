import ArgumentParser
import FoundationEssentials
import Gateway
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore
import RuleFiles

struct AccessExplain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows the rights of a token on a record, and the line of the rules that decided.",
        discussion: """
            The file contains one token as a client sends it: a token of the tokens file, or a JWT. A JWT is not verified. \
            The command writes nothing.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("File that contains the token.", valueName: "file"))
    var tokenFile: String

    @Option(help: ArgumentHelp("The record, as RESOURCE/ID.", valueName: "record"))
    var record: String

    @Option(help: ArgumentHelp("The tokens file of the token.", valueName: "file"))
    var tokens: String?

    @Option(help: ArgumentHelp("The claim of a JWT that contains the roles. (default: roles)", valueName: "claim"))
    var jwtRoles: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let settings = try Settings(file: config)
        guard let data = try? Data(contentsOf: URL(filePath: tokenFile)) else {
            throw SettingsError("\(tokenFile): the file of the token cannot be read")
        }
        let token = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(String.init)
        guard let token else { throw SettingsError("\(tokenFile): the file contains no token") }
        let viewer = try TokenInspection.viewer(
            of: token, in: settings.text(tokens, .tokens), rolesClaim: settings.text(jwtRoles, .jwtRoles) ?? "roles")
        let engine = try databaseOptions.engine(settings, bounds: DatabaseBounds(connections: 2))
        do {
            let roles = viewer.roles.map(\.string).sorted().joined(separator: ", ")
            print("the token of “\(viewer.who)”, roles: \(roles.isEmpty ? "none" : roles)")
            for line in try await report(viewer, on: engine, rules: try settings.required(rules, .rules)) {
                print(line)
            }
            await engine.close()
        } catch {
            await engine.close()
            throw error
        }
    }

    private func report(_ viewer: Viewer, on engine: any RecordEngine, rules folder: String) async throws -> [String] {
        let active: ActiveRules
        switch await RulesLoader.load(folder, against: engine) {
        case .active(let found, _): active = found
        case .refused(let findings):
            for finding in findings.sorted { print(finding) }
            throw SettingsError("the rules cannot be served; “fieldmerge check” prints the same findings")
        case .unreachable(let error): throw error
        }
        let parts = record.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw SettingsError("--record is RESOURCE/ID, not “\(record)”") }
        guard let resource = active.catalog[parts[0]] else {
            throw SettingsError(
                "“\(parts[0])” is not a resource"
                    + NearestName.ending(for: parts[0], among: active.catalog.resources.map(\.name)))
        }
        var found: Record?
        if let key = try KeyText.lookup(parts[1], resource.root) {
            let read = try await MergeService.wire(engine).record(
                resource, key, deadline: .now.advanced(by: .seconds(30)))
            if case .unreadable(let unreadable)? = read {
                throw SettingsError("the record “\(record)” cannot be read: \(unreadable.reason)")
            }
            found = read?.readable
        }
        return AccessReport(resource, name: record, record: found, viewer: viewer).lines
    }
}
