import ArgumentParser
import Operations
import SystemPackage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The command line: only options and calls.
@main
struct FieldMerge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldmerge",
        abstract: "Merges offline edits into a legacy database, group by group.",
        version: ProgramVersion.lines,
        subcommands: [
            Serve.self, Check.self, Inspect.self, Explain.self, RulesCommand.self, JournalCommand.self, Snapshot.self,
            Types.self, Token.self, Access.self, Ready.self,
        ])

    /// Runs the command, and ends the process with its status.
    static func main() async {
        do {
            var command = try await asyncParseAsRoot(nil)
            if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch {
            let (message, code) = (fullMessage(for: error), exitCode(for: error))
            if !message.isEmpty {
                let stream = code.isSuccess ? FileDescriptor.standardOutput : .standardError
                // A closed stream cannot report its own error.
                fflush(nil)
                _ = try? stream.writeAll(Array((message + "\n").utf8))
            }
            ProgramEnd.leave(with: code.rawValue)
        }
        ProgramEnd.leave(with: ExitCode.success.rawValue)
    }
}
