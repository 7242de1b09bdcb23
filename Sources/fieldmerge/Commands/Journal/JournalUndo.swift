import ArgumentParser
import Operations

struct JournalUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Takes an entry back by merging its opposite; what others wrote since stays.",
        discussion: """
            The undo is an entry of its own, which can be taken back in turn. The exit code is 0 if the undo wrote \
            something, otherwise 1.
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

    @Flag(help: "Also takes back values that have changed again since. Look at the preview first.")
    var force = false

    @Option(name: .customLong("as"), help: JournalAccess.authorHelp)
    var author: String?

    @Flag(help: "Shows the result, and writes nothing.")
    var preview = false

    @Flag(help: "Prints the answer as JSON.")
    var json = false

    func run() async throws {
        let answer = try await access.with(for: .merging, as: author) { desk, settings in
            try await desk.undo(
                number, groups: group, isForced: force, rules: try settings.required(rules, .rules), isPreview: preview)
        }
        try AnswerText(answer, isPreview: preview).report(asJSON: json)
    }
}
