import Foundation
import Synchronization

/// The program as an operator runs it, on a free port of loopback.
package final class GatewayProcess: Sendable {
    package let port: Int
    private let process: Mutex<Process>
    private let output: ProcessOutput
    private let folder: TemporaryFolder

    package static let program = Repository.root + ".build/debug/fieldmerge"

    /// Starts the program and waits until it listens.
    ///
    /// - Parameters:
    ///   - rules: the rule files by name.
    ///   - options: the options of `serve` in addition to the database, its journal, the rules and the address.
    ///   - wrapper: a program and its arguments that runs the gateway.
    ///   - namesJournal: false to use the gateway's default journal.
    ///   - url: the database's address for the gateway; nil for its socket or file.
    package init(
        _ database: TestDatabase, rules: [String: String], options: [String] = [], wrapper: [String] = [],
        namesJournal: Bool = true, url: String? = nil
    ) async throws {
        folder = try TemporaryFolder(files: rules)
        let output = ProcessOutput()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            wrapper + [
                Self.program, "serve", "--database", url ?? database.url, "--rules", folder.path, "--listen",
                "127.0.0.1:0",
            ] + (namesJournal ? ["--journal", database.journalURL] : []) + options
        process.environment = Shell.plainEnvironment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output.pipe
        try process.run()
        self.process = Mutex(process)
        self.output = output
        let scheme = options.contains("--tls-certificate") ? "https" : "http"
        let mark = "listening on \(scheme)://127.0.0.1:"
        guard let line = await output.line(containing: mark), let end = line.firstRange(of: mark)?.upperBound,
            let port = Int(line[end...].prefix { $0.isNumber })
        else { throw Shell.Failure(description: "the gateway did not start: \(output.text)") }
        self.port = port
    }

    deinit {
        kill()
    }

    /// The folder of the rule files that the program reads.
    package var rulesFolder: String { folder.path }

    /// The program's log so far.
    package var log: String { output.text }

    /// The first whole line of the log that contains a text, or nil if the program ends without one.
    package func line(containing mark: String) async -> String? { await output.line(containing: mark) }

    package var identifier: Int32 { process.withLock { $0.processIdentifier } }

    /// Sends SIGHUP, so that the program reads its files again.
    package func hangUp() { Foundation.kill(identifier, SIGHUP) }

    /// Sends SIGTERM, and waits for the end.
    ///
    /// - Returns: the exit status; for a signal it is negative.
    package func stop() async -> Int32 {
        Foundation.kill(identifier, SIGTERM)
        _ = await output.line(containing: "\u{0}")
        return process.withLock { process in
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
    }

    /// True as long as the program runs.
    package var isRunning: Bool { process.withLock { $0.isRunning } }

    /// Ends the program at once, without a chance to tidy up, and waits until the system has released its locks.
    package func kill() {
        process.withLock { process in
            guard process.isRunning else { return }
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}
