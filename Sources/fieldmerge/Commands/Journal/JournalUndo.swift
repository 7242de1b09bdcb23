import ArgumentParser
import Operations

struct JournalUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Takes an entry back by merging its opposite; what others wrote since stays.",
        discussion: """
            The undo is an entry of its own, which can be taken back in turn. Exits with 0 where it merged and \
            something was written, and with 1 otherwise.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Argument(help: "The entry's number.")
    var number: Int

    @Option(
        help: ArgumentHelp(
            "Takes back this group alone, or the rows of this section; may be repeated.",
            valueName: "section.group"))
    var group: [String] = []

    @Flag(help: "Shows the result, and writes nothing.")
    var preview = false

    @Flag(help: "Prints the answer as JSON.")
    var json = false

    func run() async throws {
        let answer = try await access.with(for: .merging) { desk, settings in
            try await desk.undo(
                number, groups: group, rules: try settings.required(rules, .rules), isPreview: preview)
        }
        try AnswerText(answer, isPreview: preview).report(asJSON: json)
    }
}
