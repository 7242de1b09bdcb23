import ArgumentParser
import FoundationEssentials
import Operations
import MergeCore
import MergeWire
import RuleFiles
import SystemPackage

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Merges three JSON files by the rules, without a database, and explains the outcome of each group.",
        discussion: """
            Each file contains a record as GET /v1/records returns it, or null. A null base creates the record, a null \
            edited deletes it, and with a null current the record was deleted. The client did not send the sections and \
            groups that base or edited omits. “where”, “checks” and “frozen-when” need the database and are not \
            evaluated. --frozen explains the merge for frozen rows. The exit code is 0 for every outcome, and 1 if a file \
            or the rules cannot be used.
            """)

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("The resource of the record in the files.", valueName: "name"))
    var resource: String

    @Option(help: ArgumentHelp("The record that the client last read.", valueName: "file"))
    var base: String

    @Option(help: ArgumentHelp("The current record of the database.", valueName: "file"))
    var current: String

    @Option(help: ArgumentHelp("The record with the client's changes.", valueName: "file"))
    var edited: String

    @Option(
        help: ArgumentHelp(
            "A section whose current rows are frozen (“frozen-when”); may be repeated.", valueName: "section"))
    var frozen: [String] = []

    @Flag(help: "Prints JSON with complete values, for programs.")
    var json = false

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let settings = try Settings(file: config)
        let folder = RuleFolder(path: try settings.required(rules, .rules))
        let files = Sided(base: try Self.read(base), current: try Self.read(current), edited: try Self.read(edited))
        let explanation: Explanation
        do throws(TrialFault) {
            explanation = try RuleTrial.run(folder, resource: resource, files: files, frozen: frozen)
        } catch .rules(let findings) {
            for finding in findings { try Self.note("\(finding)") }
            throw SettingsError("the rules cannot be used")
        } catch .resource(let sentence), .frozen(let sentence) {
            throw SettingsError(sentence)
        } catch .record(let side, let sentence) {
            throw SettingsError("\(Sided(base: base, current: current, edited: edited)[side]): \(sentence)")
        }
        for section in explanation.sectionsWithConditions {
            try Self.note(
                "note: the database evaluates “where” and “checks” of section “\(section.name)”; here they play no part"
            )
        }
        for (section, rule) in explanation.sectionsWithOpenGuards {
            try Self.note(
                "note: “frozen-when” of section “\(section.name)” (\(rule)) was not evaluated; --frozen \(section.name) "
                    + "explains the merge for frozen rows")
        }
        print(
            json
                ? String(decoding: ExplanationEncoder.encode(explanation), as: UTF8.self)
                : ExplanationTable(explanation).text)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw SettingsError("\(path): the file cannot be read")
        }
        return Array(data)
    }

    private static func note(_ line: String) throws {
        try FileDescriptor.standardError.writeAll(Array((line + "\n").utf8))
    }
}
