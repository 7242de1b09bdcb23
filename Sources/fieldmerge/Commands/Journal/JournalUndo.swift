import ArgumentParser
import Operations

struct JournalUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undoes an entry: merges its old values. Later changes are kept.",
        discussion: """
            The undo adds an entry, which can also be undone. The exit code is 0 if the undo wrote something, otherwise 1.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Argument(help: "The entry's number.")
    var number: Int

    @Option(
        help: ArgumentHelp(
            "Undoes only this group, or the rows of this section; may be repeated.",
            valueName: "section.group"))
    var group: [String] = []

    @Flag(help: "Also undoes values that have changed since. Try --preview first.")
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
