import ArgumentParser
import Operations
import RecordStore

struct JournalDrop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Settles a refused push that nobody will send again.",
        discussion: """
            The journal keeps the push, with the time and your name. Lists of refused pushes leave it out, and it cannot \
            be replayed any more. The command may be repeated.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Argument(help: "The number of the push, as “journal refused” shows it.")
    var number: Int

    @Option(name: .customLong("as"), help: JournalAccess.authorHelp)
    var author: String?

    func run() async throws {
        let entry = try await access.with(for: .merging, as: author) { desk, settings in
            try await desk.drop(number, rules: try settings.required(rules, .rules))
        }
        print("push \(number): \(entry.settlement?.text ?? "")")
    }
}
