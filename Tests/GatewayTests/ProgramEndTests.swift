import TestSupport
import Testing

/// The end of short commands.
@Suite(.timeLimit(.minutes(1))) struct ProgramEndTests {
    /// A library that prints a line when exit handlers run.
    private static let library = """
        #include <stdio.h>
        __attribute__((destructor)) static void at_exit(void) { fputs("an exit handler ran\\n", stderr); }
        """

    /// Exit handlers of C libraries free memory that threads of connections still use, so none may run.
    @Test(
        "A command prints everything and runs no exit handler",
        arguments: [
            (["--version"], Int32(0)), (["--help"], 0), (["--unknown"], 64), (["check", "--rules", "/none"], 1),
        ])
    func endsWithoutExitHandlers(_ arguments: [String], _ status: Int32) async throws {
        let folder = try TemporaryFolder(files: ["end.c": Self.library])
        try await Shell.run(["cc", "-shared", "-fPIC", "-o", folder.path + "/end.so", folder.path + "/end.c"])
        let said = try await Shell.capture(
            [CommandLineTests.program] + arguments, environment: ["LD_PRELOAD": folder.path + "/end.so"])
        #expect(said.status == status, "\(said)")
        #expect(!said.errors.contains("exit handler"), "\(said)")
        #expect(!(said.output + said.errors).isEmpty)
    }
}
