import ArgumentParser
import Operations

struct JournalReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Sends a refused push again, as its sender and under the rules of today.",
        discussion: """
            Of a push of which some edits were merged the others are sent, all or nothing. A push is replayed with \
            success once. Exits with 0 where it merged and something was written, and with 1 otherwise.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Argument(help: "The number of the push, as “journal refused” shows it.")
    var number: Int

    @Flag(help: "Shows the result, and writes nothing.")
    var preview = false

    @Flag(help: "Prints the answer as JSON.")
    var json = false

    func run() async throws {
        let answer = try await access.with(for: .merging) { desk, settings in
            try await desk.replay(number, rules: try settings.required(rules, .rules), isPreview: preview)
        }
        try AnswerText(answer, isPreview: preview).report(asJSON: json)
    }
}
