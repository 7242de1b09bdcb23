import Foundation

/// Runs the command line tools of the databases.
package enum Shell {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// The environment without settings of gateways.
    ///
    /// Gateways store their memory of histories in the folder of the tests.
    package static var plainEnvironment: [String: String] {
        let all = ProcessInfo.processInfo.environment
        let folder = all["FIELDMERGE_TEST_FOLDER"] ?? NSTemporaryDirectory()
        return all.filter { !$0.key.hasPrefix("FIELDMERGE_") }
            .merging(["XDG_STATE_HOME": folder + "/state"]) { $1 }
    }

    /// Runs a program to its end and returns its standard output.
    /// - Throws: `Failure` with its output, if its exit status is not 0.
    @discardableResult
    package static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> String {
        let (status, output, errors) = try await capture(arguments, input: input, environment: environment)
        guard status == 0 else {
            throw Failure(description: "\(arguments.joined(separator: " ")) ended with \(status): \(errors)\(output)")
        }
        return output
    }

    /// Runs a program to its end, whatever its status.
    ///
    /// No thread of the tests waits meanwhile. There are only as many as processors, and a gateway in the same process
    /// needs them.
    package static func capture(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = plainEnvironment.merging(environment) { $1 }
        // Files are used instead of pipes, so no reader has to keep up with a long output.
        let folder = try TemporaryFolder()
        let inputFile = folder.path + "/input"
        try Data(input.utf8).write(to: URL(filePath: inputFile))
        for name in ["output", "errors"] { try Data().write(to: URL(filePath: folder.path + "/" + name)) }
        let handles = [
            try FileHandle(forReadingFrom: URL(filePath: inputFile)),
            try FileHandle(forWritingTo: URL(filePath: folder.path + "/output")),
            try FileHandle(forWritingTo: URL(filePath: folder.path + "/errors")),
        ]
        process.standardInput = handles[0]
        process.standardOutput = handles[1]
        process.standardError = handles[2]
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            // The program has copies of the handles. Hundreds of programs run at once, and with some 1,360 open files
            // Foundation's `Process` reads beyond the end of their list.
            defer { for handle in handles { try? handle.close() } }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return (
            process.terminationStatus, try String(contentsOfFile: folder.path + "/output", encoding: .utf8),
            try String(contentsOfFile: folder.path + "/errors", encoding: .utf8)
        )
    }
}

/// A folder that is gone when the last reference to it goes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let root = ProcessInfo.processInfo.environment["FIELDMERGE_TEST_FOLDER"] ?? NSTemporaryDirectory()
        path = root + (root.hasSuffix("/") ? "" : "/") + "fm" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// A folder with files in it.
    package convenience init(files: [String: String]) throws {
        try self.init()
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: path + "/" + name)) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// Files of the repository.
package enum Repository {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path()

    package static func text(_ path: String) throws -> String {
        try String(contentsOfFile: root + path, encoding: .utf8)
    }
}
