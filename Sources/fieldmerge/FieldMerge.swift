import ArgumentParser
import Operations

/// The command line: options and calls, nothing else.
@main
struct FieldMerge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldmerge",
        abstract: "Merges offline edits into a legacy database, group by group.",
        version: ProgramVersion.lines,
        subcommands: [
            Serve.self, Check.self, Inspect.self, Explain.self, JournalCommand.self, Snapshot.self, Token.self,
            Access.self, Ready.self,
        ])
}
