import ArgumentParser
import Operations

struct JournalReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Resends a refused push, as its sender and under the active rules.",
        discussion: """
            If some edits of the push were merged, the command sends the other edits, all or none. A push can be resent \
            with success once. The exit code is 0 if the resend wrote something, otherwise 1.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Argument(help: "The number of the push in “journal refused”.")
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
