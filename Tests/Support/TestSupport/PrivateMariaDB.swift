import Foundation
import Synchronization

/// A MariaDB server for tests in a temporary folder, on a socket that no other program uses.
package final class PrivateMariaDB: Sendable {
    private let folder: TemporaryFolder
    private let process = Mutex<Process?>(nil)
    private let options: [String]

    package var socket: String { folder.path + "/s" }

    /// The server of most tests, which ends with the test run.
    package static var shared: PrivateMariaDB {
        get async throws { try await sharedStart.value }
    }

    private static let sharedStart = Task {
        let server = try await PrivateMariaDB(options: readsLog ? logOptions : [])
        running.withLock { $0.append(server) }
        atexit { PrivateMariaDB.running.withLock { for server in $0 { server.kill() } } }
        return server
    }

    /// An empty server, made once and copied for each.
    private static let template = Task {
        let folder = try TemporaryFolder()
        try await Shell.run(
            [
                "mariadb-install-db", "--no-defaults", "--user=" + NSUserName(), "--datadir=" + folder.path + "/data",
                "--auth-root-authentication-method=normal", "--skip-test-db",
            ], environment: ["TMPDIR": folder.path])
        return folder
    }

    /// The options of a server with a binary log.
    package static let logOptions = ["--log-bin=log", "--binlog-format=ROW", "--server-id=7"]

    /// With `FIELDMERGE_TEST_CHANGES=binlog`, gateways of scan tests find foreign changes in the binary log.
    package static let readsLog = ProcessInfo.processInfo.environment["FIELDMERGE_TEST_CHANGES"] == "binlog"

    private static let running = Mutex<[PrivateMariaDB]>([])

    /// Makes an empty server and starts it.
    package init(options: [String] = []) async throws {
        guard MariaDBServer.isExpected else { throw Shell.Failure(description: MariaDBServer.reason) }
        folder = try TemporaryFolder()
        self.options = options
        let template = try await Self.template.value
        try await Shell.run(["cp", "-r", template.path + "/data", folder.path + "/data"])
        try await start()
    }

    deinit {
        kill()
    }

    /// Starts the server and waits until it answers.
    package func start() async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [
                "mariadbd", "--no-defaults", "--user=" + NSUserName(), "--datadir=" + folder.path + "/data",
                "--socket=" + socket, "--pid-file=" + folder.path + "/pid", "--skip-networking", "--skip-name-resolve",
                "--tmpdir=" + folder.path,
                "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M", "--max-connections=1000",
                "--log-error=" + folder.path + "/log",
            ] + options
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
        // The client program of the server reports when it is ready. Running it is the pause between two checks.
        for _ in 0..<3_000 {
            let ping = ["mariadb-admin", "--no-defaults", "--socket=" + socket, "-uroot", "ping"]
            if try await Shell.capture(ping).status == 0 { return }
            guard process.isRunning else { break }
        }
        let log = (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? ""
        throw Shell.Failure(description: "mariadbd did not start: \(log.suffix(2_000))")
    }

    /// Suspends the server with all its locks.
    package func stall() { send(SIGSTOP) }

    /// Continues a suspended server.
    package func resume() { send(SIGCONT) }

    private func send(_ signal: Int32) {
        process.withLock { process in
            if let process { Foundation.kill(process.processIdentifier, signal) }
        }
    }

    /// Ends the server at once, as a loss of power would.
    package func kill() {
        process.withLock { process in
            if let running = process, running.isRunning {
                Foundation.kill(running.processIdentifier, SIGKILL)
                running.waitUntilExit()
            }
            process = nil
        }
    }

    /// Runs SQL as root.
    @discardableResult
    package func run(_ sql: String, in database: String = "") async throws -> String {
        try await Shell.run(
            ["mariadb", "--no-defaults", "--socket=" + socket, "-uroot", "--batch", "--skip-column-names"]
                + (database.isEmpty ? [] : [database]), input: sql)
    }
}
