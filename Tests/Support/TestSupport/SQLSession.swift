import Foundation
import Synchronization

/// A session of the database's client program that remains open with its locks.
package final class SQLSession: Sendable {
    private let process: Mutex<Process>
    private let input = Pipe()
    private let output = ProcessOutput()
    private let count = Counter()

    init(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output.pipe
        process.standardError = output.pipe
        try process.run()
        self.process = Mutex(process)
    }

    deinit {
        end()
    }

    /// Runs SQL and waits until it is done.
    ///
    /// - Returns: everything that the session has printed so far.
    @discardableResult
    package func run(_ sql: String) async throws -> String {
        count.increase()
        let mark = "done \(count.value)."
        try input.fileHandleForWriting.write(contentsOf: Data((sql + "\nSELECT '\(mark)';\n").utf8))
        guard await output.line(containing: mark) != nil else {
            throw Shell.Failure(description: "the session ended: \(output.text)")
        }
        return output.text
    }

    /// Ends the session, and the transaction that is open in it.
    package func end() {
        process.withLock { process in
            if process.isRunning { process.terminate() }
        }
    }
}
