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
    ///   - options: of `serve`, besides the database, its journal, the rules and the address.
    ///   - wrapper: a program with its arguments that runs the gateway's.
    package init(
        _ database: TestDatabase, rules: [String: String], options: [String] = [], wrapper: [String] = []
    ) async throws {
        folder = try TemporaryFolder(files: rules)
        let output = ProcessOutput()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            wrapper + [
                Self.program, "serve", "--database", database.url, "--rules", folder.path, "--listen", "127.0.0.1:0",
                "--journal", database.journalURL,
            ] + options
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output.pipe
        try process.run()
        self.process = Mutex(process)
        self.output = output
        let mark = "listening on http://127.0.0.1:"
        guard let line = await output.line(containing: mark), let end = line.firstRange(of: mark)?.upperBound,
            let port = Int(line[end...].prefix { $0.isNumber })
        else { throw Shell.Failure(description: "the gateway did not start: \(output.text)") }
        self.port = port
    }

    deinit {
        kill()
    }

    /// What the program has written to its log.
    package var log: String { output.text }

    package var identifier: Int32 { process.withLock { $0.processIdentifier } }

    /// Ends the program at once, without a chance to tidy up.
    package func kill() {
        process.withLock { process in
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        }
    }
}

/// What a program writes, read as it comes.
private final class ProcessOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isOver = false
        var waiter: (mark: String, continuation: CheckedContinuation<String?, Never>)?
    }

    let pipe = Pipe()
    private let state = Mutex(State())

    init() {
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.take(data)
        }
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// The first whole line with a mark in it; nil where the program ends without one.
    func line(containing mark: String) async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = (mark, continuation) }
            take(nil)
        }
    }

    /// - Parameter data: what came; empty at the end, nil where nothing did.
    private func take(_ data: Data?) {
        let settled = state.withLock { state -> (CheckedContinuation<String?, Never>, String?)? in
            if let data { state.bytes += data }
            if data?.isEmpty == true { state.isOver = true }
            guard let waiter = state.waiter else { return nil }
            let lines = String(decoding: state.bytes, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let line = lines.dropLast().first { $0.contains(waiter.mark) }.map(String.init)
            guard line != nil || state.isOver else { return nil }
            state.waiter = nil
            return (waiter.continuation, line)
        }
        settled?.0.resume(returning: settled?.1)
    }
}
