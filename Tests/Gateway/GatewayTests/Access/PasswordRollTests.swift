import Foundation
import Testing
import TestSupport

/// The password of the database user changes while the gateway runs.
@Suite(.tags(.mariadb), .needsMariaDB, .timeLimit(.minutes(3))) struct PasswordRollTests {
    /// A gateway whose account has the password of a file.
    private struct Scene {
        let database: TestDatabase
        let server: PrivateMariaDB
        let folder: TemporaryFolder
        let gateway: GatewayProcess

        init() async throws {
            database = try await TestDatabase(.mariadb, mariadb: MergeTests.mariadb, sqlite: "")
            server = try await PrivateMariaDB.shared
            try await database.initJournal()
            try await server.run("ALTER USER \(database.accountSQL) IDENTIFIED BY 'one'")
            folder = try TemporaryFolder(files: ["password": "one\n"])
            gateway = try await GatewayProcess(
                database, rules: MergeTests.rules, options: ["--database-password-file", folder.path + "/password"])
        }

        /// Changes the password of the account, and ends its connections.
        func change(to password: String?) async throws {
            if let password {
                try await server.run("ALTER USER \(database.accountSQL) IDENTIFIED BY '\(password)'")
            }
            try await server.run("KILL USER \(database.accountSQL)")
        }

        func write(_ password: String) throws {
            try (password + "\n").write(toFile: folder.path + "/password", atomically: true, encoding: .utf8)
            gateway.hangUp()
        }

        func status() async throws -> Int {
            try await HTTPClient.with(port: gateway.port) { try await $0.get("/v1/records/people/1").status }
        }

        func until(_ wanted: Int) async throws {
            try await OutageTests.until { (try? await status()) == wanted }
        }
    }

    @Test("The file may change before the server, and no new connection fails")
    func fileFirst() async throws {
        let scene = try await Scene()
        try await scene.until(200)
        try scene.write("two")
        #expect(await scene.gateway.line(containing: "new connections to the database use another password") != nil)
        // The server still refuses the new password.
        try await scene.change(to: nil)
        try await scene.until(200)
        try await scene.change(to: "two")
        try await scene.until(200)
        #expect(!scene.gateway.log.contains("error 1045"), "\(scene.gateway.log)")
    }

    @Test("If the server changes first, SIGHUP brings the gateway back")
    func serverFirst() async throws {
        let scene = try await Scene()
        try await scene.until(200)
        try await scene.change(to: "two")
        try await scene.until(503)
        let line = try #require(await scene.gateway.line(containing: "error 1045"))
        #expect(line.contains("the password is that of \(scene.folder.path)/password"), "\(line)")
        try scene.write("two")
        try await scene.until(200)
    }

    @Test("A file that cannot be read keeps the previous password")
    func unreadable() async throws {
        let scene = try await Scene()
        try FileManager.default.removeItem(atPath: scene.folder.path + "/password")
        scene.gateway.hangUp()
        #expect(await scene.gateway.line(containing: "the previous password stays in use") != nil)
        try await scene.change(to: nil)
        try await scene.until(200)
    }
}
