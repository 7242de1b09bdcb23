import ArgumentParser

/// The command line: options and calls, nothing else.
@main
struct FieldMerge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldmerge",
        abstract: "Merges offline edits into a legacy database, group by group.",
        version: "0.1.0",
        subcommands: [
            Serve.self, Check.self, Inspect.self, Explain.self, JournalCommand.self, Snapshot.self, Token.self,
            Access.self,
        ])
}
