import Foundation
import Operations
import Testing
import TestSupport

/// The program as an operator runs it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CommandLineTests {
    static let program = Repository.root + ".build/debug/fieldmerge"

    @Test("check prints every finding and exits with 1")
    func check() async throws {
        let database = try await TestDatabase.shop(.sqlite)
        let good = try await Shell.capture([
            Self.program, "check", "--rules", Repository.root + "MergeRules", "--database", database.url,
        ])
        #expect(good.status == 0, "\(good.output)\(good.errors)")
        #expect(good.output.contains("0 errors"))
        let grants = try await Shell.capture([
            Self.program, "check", "--rules", Repository.root + "MergeRules", "--database", database.url, "--grants",
        ])
        #expect(grants.status == 1 && grants.errors.contains("--grants is for MariaDB"))
        let folder = try TemporaryFolder()
        try await Shell.run(
            ["tee", folder.path + "/bad.yaml"],
            input: "resource: Bad\nsections:\n  a:\n    tabel: x\n    groups: {b: {colum: c}}\n")
        let bad = try await Shell.capture([Self.program, "check", "--rules", folder.path])
        #expect(bad.status == 1)
        #expect(bad.output.contains("bad.yaml:1:11: error:"))
        #expect(bad.output.contains("bad.yaml:4:5: error: “tabel” is not a key of a section; did you mean “table”?"))
        #expect(bad.output.contains("did you mean “column”?"))
    }

    @Test("check has the database parse SQL of the rules", arguments: TestEngine.allCases)
    func checkedSQL(_ kind: TestEngine) async throws {
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT NOT NULL DEFAULT 0, gone INT NOT NULL DEFAULT 0);"
        let database = try await TestDatabase(kind, mariadb: table, sqlite: table)
        let folder = try TemporaryFolder()
        try await Shell.run(
            ["tee", folder.path + "/t.yaml"],
            input: """
                resource: ts
                sections:
                  t:
                    table: t
                    groups: {a: a}
                    where: gone = 0
                    delete: {set: {gone: nonsense(1)}}
                    checks:
                      - {name: broken, sql: "a >< 1", fields: [a]}
                      - {name: strange, sql: "gonne > 1", fields: [a]}
                      - {name: fine, sql: "a > 1 -- as it should be", fields: [a]}
                """)
        let checked = try await Shell.capture([
            Self.program, "check", "--rules", folder.path, "--database", database.url, "--journal", "off",
        ])
        #expect(checked.status == 1)
        for found in [
            "t.yaml:7:26: error: the database does not understand the SQL of “delete.set.gone”",
            "t.yaml:9:29: error: the database does not understand the SQL of check “broken”",
            "t.yaml:10:30: error: the database does not understand the SQL of check “strange”: "
                + "table “t” has no column “gonne”; did you mean “gone”?", "3 errors, 0 warnings",
        ] {
            #expect(checked.output.contains(found), "\(found) in \(checked.output)\(checked.errors)")
        }
    }

    @Test("A value that “where” would hide is a finding", arguments: TestEngine.allCases)
    func hiddenValues(_ kind: TestEngine) async throws {
        let table =
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state VARCHAR(10), kind VARCHAR(10), gone INT NOT NULL DEFAULT 0);"
        let database = try await TestDatabase(kind, mariadb: table, sqlite: table)
        let folder = try TemporaryFolder()
        try await Shell.run(
            ["tee", folder.path + "/jobs.yaml"],
            input: """
                resource: jobs
                sections:
                  job:
                    table: jobs
                    where: "gone = 0 AND state <> 'archived' AND (kind = 'app' OR kind IS NULL)"
                    groups:
                      state:
                        column: state
                        transitions:
                          new: [open, archived]
                    stamp: {kind: {value: web}}
                """)
        let checked = try await Shell.capture([
            Self.program, "check", "--rules", folder.path, "--database", database.url, "--journal", "off",
        ])
        let output = checked.output
        #expect(
            output.contains("jobs.yaml:10:23: warning: “where” of section “job” hides rows with “archived”"),
            "\(output)")
        #expect(
            output.contains("jobs.yaml:11:27: warning: “where” of section “job” hides rows with “web”"), "\(output)")
        #expect(!output.contains("with “open”"), "\(output)")
    }

    @Test("The password of a settings file is only sent for its user, and a refusal names its file")
    func passwordOfTheSettingsFile() async throws {
        let database = try await TestDatabase(
            .mariadb, mariadb: "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL) ENGINE=InnoDB;", sqlite: "")
        let folder = try TemporaryFolder()
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: folder.path + "/" + name, atomically: true, encoding: .utf8)
        }
        let rules = folder.path + "/rules"
        try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
        try write("rules/t.yaml", "resource: ts\nsections:\n  t:\n    table: t\n    groups: {a: a}\n")
        try write("password", "wrong\n")
        try write(
            "settings.yaml", "database: \(database.url)\ndatabase-password-file: \(folder.path)/password\n")
        func check(_ options: [String]) async throws -> (status: Int32, output: String, errors: String) {
            let command = [Self.program, "check", "--config", folder.path + "/settings.yaml", "--rules", rules]
            return try await Shell.capture(command + ["--journal", "off"] + options)
        }
        let refused = try await check([])
        #expect(refused.status != 0)
        #expect(
            (refused.output + refused.errors).contains("the password is that of \(folder.path)/password"),
            "\(refused)")
        // The account of the test has no password, so a password that is sent would be refused.
        let root = try await check(["--database", database.asRoot.url])
        #expect(root.status == 0, "\(root)")
    }

    @Test("A new token is accepted")
    func tokens() async throws {
        let made = try await Shell.run([Self.program, "token", "new", "--name", "tablet-7"])
        let lines = made.split(separator: "\n").map(String.init)
        #expect(lines[1].hasPrefix("fm_"))
        #expect(lines[3].hasPrefix("tablet-7 read,write sha256:"))
        #expect(!lines[3].contains(lines[1]))
    }

    /// Each token has its line, and only the owner can read the file.
    @Test("New tokens are appended to a file")
    func appendedTokens() async throws {
        let folder = try TemporaryFolder(files: ["old": "# kept"])
        for (file, lines) in [("old", 3), ("new", 2)] {
            let path = folder.path + "/" + file
            for name in ["tablet-7", "tablet-8"] {
                let made = try await Shell.run([
                    Self.program, "token", "new", "--name", name, "--append", path,
                ])
                #expect(made.contains("fm_") && made.contains("appended to \(path)") && !made.contains("sha256:"))
            }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(
                text.split(separator: "\n").count == lines && text.hasSuffix("\n") && !text.contains("fm_"), "\(text)")
            let again = try await Shell.capture([
                Self.program, "token", "new", "--name", "tablet-7", "--append", path,
            ])
            #expect(again.status == 1 && again.errors.contains("“tablet-7” exists already"), "\(again)")
            #expect(!again.output.contains("fm_"))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/new")[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let nowhere = try await Shell.capture([
            Self.program, "token", "new", "--name", "a", "--append", folder.path + "/no/where",
        ])
        #expect(nowhere.status == 1 && !nowhere.output.contains("fm_"), "\(nowhere)")
    }

    @Test("The version names the protocol and the rule format")
    func version() async throws {
        let lines = try await Shell.run([Self.program, "--version"]).split(separator: "\n").map(String.init)
        #expect(lines == ["fieldmerge \(ProgramVersion.text)", "protocol 1", "rule format 1"])
    }

    @Test("Without tokens the gateway listens only on loopback addresses")
    func loopback() async throws {
        let database = try await TestDatabase.shop(.sqlite)
        let refused = try await Shell.capture([
            Self.program, "serve", "--database", database.url, "--rules", Repository.root + "MergeRules", "--listen",
            "0.0.0.0:0",
        ])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--tokens"))
    }

    @Test("Settings can be in the environment and in a file")
    func settings() async throws {
        let database = try await TestDatabase.shop(.sqlite)
        let folder = try TemporaryFolder()
        try await Shell.run(
            ["tee", folder.path + "/settings.yaml"],
            input: "database: \(database.url)\nrules: \(Repository.root)MergeRules\nlisten: 0.0.0.0:0\n")
        let serve = [Self.program, "serve", "--config", folder.path + "/settings.yaml"]
        #expect(try await Shell.capture(serve).errors.contains("--tokens"))
        let environment = ["FIELDMERGE_LISTEN": "nonsense"]
        #expect(try await Shell.capture(serve, environment: environment).errors.contains("--listen is HOST:PORT"))
        let limits = try await Shell.capture(
            serve + ["--listen", "127.0.0.1:0"], environment: ["FIELDMERGE_MAX_BODY": "lots"])
        #expect(limits.errors.contains("--max-body is a whole number"))
    }

    /// SIGTERM: the request in flight is answered, then the program ends with 0.
    @Test("After SIGTERM the running requests finish", .tags(.mariadb), .needsMariaDB)
    func sigterm() async throws {
        let database = try await TestDatabase.shop(.mariadb)
        let folder = try TemporaryFolder()
        let log = folder.path + "/log"
        try Data().write(to: URL(filePath: log))
        let process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = [
            "serve", "--database", database.url, "--rules", Repository.root + "MergeRules", "--listen", "127.0.0.1:0",
            "--journal", "off",
        ]
        process.standardError = FileHandle(forWritingAtPath: log)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let port = try await Self.port(log, process)
        // Another program locks the row, so the merge waits in its transaction.
        let holder = Process()
        let server = try await PrivateMariaDB.shared
        holder.executableURL = URL(filePath: "/usr/bin/env")
        let name = database.name
        holder.arguments = ["mariadb", "--no-defaults", "--socket=" + server.socket, "-uroot", "--unbuffered", name]
        let (input, output) = (Pipe(), Pipe())
        holder.standardInput = input
        holder.standardOutput = output
        try holder.run()
        try input.fileHandleForWriting.write(
            contentsOf: Data("BEGIN; SELECT 'held' FROM customers WHERE customer_id = 123 FOR UPDATE;\n".utf8))
        _ = output.fileHandleForReading.availableData
        let answer = Task {
            try await HTTPClient.with(port: port) { client async throws in
                try await client.post(
                    "/v1/merge/shoppers",
                    #"{"id":123,"changeset":{"customer":{"firstName":{"old":"Joe","new":"Bob"}}}}"#)
            }
        }
        // The server's process list shows that the merge waits for the lock.
        let waiting =
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '\(name)' AND COMMAND = 'Execute'"
            + " AND INFO LIKE '%FOR UPDATE'"
        while try await server.run(waiting) == "0\n" { await Task.yield() }
        process.terminate()
        try input.fileHandleForWriting.write(contentsOf: Data("COMMIT;\n\\q\n".utf8))
        #expect(try await answer.value.status == 200)
        await Task.detached { process.waitUntilExit() }.value
        #expect(process.terminationStatus == 0)
        #expect(process.terminationReason == .exit)
        let lines = try Self.text(log)
        #expect(lines.contains("method=POST") && lines.contains("status=200") && lines.contains("stopped"))
        #expect(!lines.contains("Bob") && !lines.contains(database.account + "@"))
        await Task.detached { holder.waitUntilExit() }.value
        #expect(holder.terminationStatus == 0)
    }

    @Test("Rule files are read again after a change and on SIGHUP, and a broken file changes nothing")
    func reload() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let folder = try TemporaryFolder()
        let file = folder.path + "/people.yaml"
        let log = folder.path + "/log"
        let good = MergeTests.rules["people.yaml"] ?? ""
        try await Shell.run(["tee", file, log], input: good)
        let process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = [
            "serve", "--database", database.url, "--rules", folder.path, "--listen", "127.0.0.1:0",
        ]
        process.standardError = FileHandle(forWritingAtPath: log)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        let port = try await Self.port(log, process)
        try await HTTPClient.with(port: port) { client in
            @Sendable func version() async throws -> String? {
                try await client.get("/v1/rules").json()["version"]?.text
            }
            let first = try await version()
            try await Shell.run(["tee", file], input: good.replacing("motto: motto", with: "saying: motto"))
            // Requests go on meanwhile, each under one version or the other.
            while try await version() == first {
                #expect(try await client.get("/v1/records/people/1").status == 200)
            }
            let second = try await version()
            try await Shell.run(["tee", file], input: good.replacing("table: people", with: "tabel: people"))
            kill(process.processIdentifier, SIGHUP)
            while try await client.get("/readyz").json()["problems"]?.array.isEmpty != false { await Task.yield() }
            let ready = try await client.get("/readyz")
            #expect(ready.status == 200)
            #expect(ready.text.contains("people.yaml:4:5: error: “tabel”"), "\(ready.text)")
            #expect(try await version() == second)
            try await Shell.run(["tee", file], input: good)
            kill(process.processIdentifier, SIGHUP)
            while try await version() != first { await Task.yield() }
            #expect(try await client.get("/readyz").json()["problems"]?.array.isEmpty == true)
        }
    }

    static func port(_ log: String, _ process: Process) async throws -> Int {
        while process.isRunning {
            let text = try Self.text(log)
            if let mark = text.firstRange(of: "http://127.0.0.1:"),
                let port = Int(text[mark.upperBound...].prefix { $0.isNumber }), text[mark.upperBound...].contains("\n")
            {
                return port
            }
            await Task.yield()
        }
        throw Shell.Failure(description: try Self.text(log))
    }

    /// The log of a running program, whose last line can end within a character.
    private static func text(_ log: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: log)), as: UTF8.self)
    }
}
