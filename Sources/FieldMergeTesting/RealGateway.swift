#if os(Linux) || os(macOS)
    public import FieldMergeClient
    public import Foundation
    import GRDB
    import Synchronization

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The real gateway with a SQLite file, for a test.
    public final class RealGateway: Sendable {
        /// The gateway's address.
        public let url: URL
        /// The database file of the gateway.
        public let database: URL
        private let folder: URL
        private let command: [String]
        private let process = Mutex<Process?>(nil)

        /// The error of a gateway that could not start.
        public struct StartError: Error, CustomStringConvertible {
            /// The gateway's log.
            public let description: String
        }

        /// Starts the gateway.
        ///
        /// - Parameters:
        ///   - program: the path of `fieldmerge`.
        ///   - rules: the folder of the rule files.
        ///   - sql: the statements that create the database.
        ///   - options: more options of `fieldmerge serve`.
        /// - Throws: `StartError` with the gateway's log.
        public static func start(
            program: URL, rules: URL, sql: String, options: [String] = []
        ) async throws -> RealGateway {
            var log = ""
            for _ in 0..<5 {
                // A gateway deletes its folder, so each attempt has a separate folder.
                let folder = FileManager.default.temporaryDirectory
                    .appendingPathComponent("fieldmerge-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let gateway = try RealGateway(program, rules: rules, sql: sql, options: options, in: folder)
                try gateway.launch()
                if await gateway.isReady() { return gateway }
                gateway.kill()
                log = (try? String(contentsOf: folder.appendingPathComponent("gateway.log"), encoding: .utf8)) ?? ""
            }
            throw StartError(description: "the gateway did not start:\n\(log)")
        }

        private init(_ program: URL, rules: URL, sql: String, options: [String], in folder: URL) throws {
            self.folder = folder
            database = folder.appendingPathComponent("database.sqlite")
            try DatabaseQueue(path: database.path).writeWithoutTransaction { db in try db.execute(sql: sql) }
            // If another program has taken the port, the next attempt uses another port.
            let port = Int.random(in: 20_000...60_000)
            guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw URLError(.badURL) }
            self.url = url
            command =
                [program.path, "serve", "--rules", rules.path, "--database", "sqlite:\(database.path)"]
                + ["--listen", "127.0.0.1:\(port)"] + options
        }

        deinit {
            process.withLock { $0?.terminate() }
            try? FileManager.default.removeItem(at: folder)
        }

        private func launch() throws {
            let log = folder.appendingPathComponent("gateway.log")
            try Data().write(to: log)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: command[0])
            process.arguments = Array(command.dropFirst())
            process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FIELDMERGE_") }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try FileHandle(forWritingTo: log)
            process.standardError = process.standardOutput
            try process.run()
            self.process.withLock { $0 = process }
        }

        /// Waits until the gateway answers; returns false if it ends before.
        private func isReady() async -> Bool {
            let transport = HTTPTransport(server: url)
            for _ in 0..<1_200 {
                guard process.withLock({ $0?.isRunning }) == true else { return false }
                let answer = try? await transport.send(TransportRequest(method: "GET", path: "/readyz", timeout: 5))
                if answer?.status == 200 { return true }
                do { try await Task.sleep(for: .milliseconds(50)) } catch { return false }
            }
            return false
        }

        /// Stops the gateway gracefully.
        public func stop() { end { $0.terminate() } }

        /// Kills the gateway, as a power cut would.
        public func kill() {
            end { process in
                _ = Foundation.kill(process.processIdentifier, SIGKILL)
            }
        }

        private func end(_ signal: (Process) -> Void) {
            process.withLock { held in
                guard let process = held, process.isRunning else { return }
                signal(process)
                process.waitUntilExit()
                held = nil
            }
        }

        /// Starts the gateway again, at the same address.
        ///
        /// - Throws: `StartError` if it does not start.
        public func restart() async throws {
            stop()
            try launch()
            guard await isReady() else { throw StartError(description: "the gateway did not start again") }
        }

        /// Runs statements on the gateway's database, as a program that bypasses the gateway would.
        ///
        /// Returns the rows of the last statement, with one value for each column.
        @discardableResult
        public func query(_ sql: String) throws -> [[JSONValue]] {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            return try DatabaseQueue(path: database.path, configuration: configuration).writeWithoutTransaction { db in
                try Row.fetchAll(db, sql: sql).map { row in
                    row.databaseValues.map { value in
                        switch value.storage {
                        case .null: .null
                        case .int64(let number): .integer(Int128(number))
                        case .double(let number): .double(number)
                        case .string(let text): .string(text)
                        case .blob(let data): .string(data.base64EncodedString())
                        }
                    }
                }
            }
        }
    }
#endif
