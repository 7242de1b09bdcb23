import TestSupport
import Testing

/// The end of short commands.
@Suite(.timeLimit(.minutes(1))) struct ProgramEndTests {
    /// A library that prints a line when exit handlers run.
    private static let library = """
        #include <stdio.h>
        __attribute__((destructor)) static void at_exit(void) { fputs("an exit handler ran\\n", stderr); }
        """

    private struct Command: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let status: Int32
        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let commands = [
        Command(arguments: ["--version"], status: 0), Command(arguments: ["--help"], status: 0),
        Command(arguments: ["--unknown"], status: 64), Command(arguments: ["check", "--rules", "/none"], status: 1),
    ]

    /// Exit handlers of C libraries free memory that threads of connections still use, so none may run.
    @Test("A command prints everything and runs no exit handler", arguments: commands)
    private func endsWithoutExitHandlers(_ command: Command) async throws {
        let folder = try TemporaryFolder(files: ["end.c": Self.library])
        try await Shell.run(["cc", "-shared", "-fPIC", "-o", folder.path + "/end.so", folder.path + "/end.c"])
        let said = try await Shell.capture(
            [CommandLineTests.program] + command.arguments, environment: ["LD_PRELOAD": folder.path + "/end.so"])
        #expect(said.status == command.status, "\(said)")
        #expect(!said.errors.contains("exit handler"), "\(said)")
        #expect(!(said.output + said.errors).isEmpty)
    }
}
