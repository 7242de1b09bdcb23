import Testing
import TestSupport

/// The rights that are documented are enough for all that a gateway does.
@Suite(.timeLimit(.minutes(5))) struct RightsTests {
    private typealias Said = (status: Int32, output: String, errors: String)

    /// An account with exactly the rights that `check --grants` and `journal init` print, on a server that logs each
    /// statement.
    private struct LimitedAccount {
        let server: PrivateMariaDB
        let database: TestDatabase
        let folder: TemporaryFolder
        private static let name = "few"

        init() async throws {
            server = try await PrivateMariaDB(options: ["--log-output=TABLE", "--general-log=ON"])
            let whole = try await JournalTests.database(.mariadb, server: server)
            folder = try TemporaryFolder(files: JournalTests.rules)
            try await server.run("CREATE USER \(Self.name)@localhost")
            database = whole.asUser(Self.name)
            for command in [["check", "--grants"], ["journal", "init"]] {
                let said = try await Self.run(command + ["--grant-to", database.accountSQL], whole.asRoot, folder)
                #expect(said.status == 0, "\(said)")
                for line in said.output.split(separator: "\n") where line.hasPrefix("GRANT ") {
                    try await whole.runAsOperator(String(line))
                }
            }
        }

        func run(_ command: [String]) async throws -> Said { try await Self.run(command, database, folder) }

        private static func run(
            _ command: [String], _ database: TestDatabase, _ folder: TemporaryFolder
        ) async throws -> Said {
            try await Shell.capture(
                [CommandLineTests.program] + command,
                environment: [
                    "FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path,
                    "FIELDMERGE_JOURNAL": database.journalURL,
                ])
        }

        /// The number of statements that the server has refused because of a missing right.
        func refusals() async throws -> String {
            try await server.run("SHOW GLOBAL STATUS LIKE 'Access_denied_errors'")
        }

        /// The first words of everything that the account has sent.
        func sent() async throws -> Set<String> {
            let words = try await server.run(
                "SELECT DISTINCT SUBSTRING_INDEX(TRIM(argument), ' ', 2) FROM mysql.general_log"
                    + " WHERE user_host LIKE '\(Self.name)[%' AND command_type IN ('Query', 'Prepare', 'Execute')")
            return Set(words.split(separator: "\n").map { $0.split(separator: " ").first.map(String.init) ?? "" })
        }
    }

    /// Waits until the old entries are deleted, and returns the entries after the newest one at the start.
    private static func newEntries(_ client: HTTPClient.Session, _ database: TestDatabase) async throws -> [JSON] {
        try await OutageTests.until {
            try await database.runOnJournal("SELECT COUNT(*) <= 1 FROM entries WHERE who = 'old'") == "1\n"
        }
        let all = try await client.get("/v1/journal?limit=100").json()["entries"]?.array ?? []
        return all.filter { $0["who"]?.text != "old" }
    }

    @Test("The documented rights are enough", .tags(.mariadb), .needsMariaDB)
    func documented() async throws {
        let few = try await LimitedAccount()
        let rights = try await few.server.run("SHOW GRANTS FOR \(few.database.accountSQL)")
        #expect(rights.split(separator: "\n").count == 6, "\(rights)")
        #expect(
            rights.split(separator: "\n").allSatisfy {
                $0.hasPrefix("GRANT USAGE ON *.*") || $0.hasPrefix("GRANT SELECT, INSERT, UPDATE, DELETE ON `")
            }, "\(rights)")
        let before = try await few.refusals()
        // Older than everything is kept for, so that a gateway that starts deletes it.
        try await few.database.runOnJournal(
            "INSERT INTO entries (at, who, resource, record) SELECT '2001-01-01', 'old', 'people', 1 FROM seq_1_to_700")
        #expect(try await few.run(["check"]).status == 0)
        let gateway = try await GatewayProcess(few.database, rules: JournalTests.rules)
        let numbers = try await HTTPClient.with(port: gateway.port) { client async throws in
            let edits = [
                #"{"person":{"name":{"old":"Ann","new":"Anna"},"points":{"old":9,"new":12}}}"#,
                #"{"items":[{"old":null,"new":{"what":"Rice"}},{"id":1,"old":{"what":"Beans"},"new":null}]}"#,
                #"{"person":{"old":{},"new":null}}"#,
            ]
            for edit in edits {
                let merged = try await client.post("/v1/merge/people", JournalTests.edit(edit))
                #expect(merged.status == 200, "\(merged.text)")
                #expect(try merged.json()["status"]?.text == "merged", "\(merged.text)")
                // The answer names the rows that a cascade deletes, although an account with rights on single tables
                // cannot see foreign keys.
                let isDeletion = edit == edits.last
                #expect(merged.text.contains(#""effect":"set-null""#) == isDeletion, "\(merged.text)")
            }
            let several = (1...12).map {
                #"{"resource":"people","id":-\#($0),"changeset":{"person":{"old":null,"new":{"name":"n\#($0)"}}}}"#
            }
            let push = #"{"key":"k","edits":[\#(several.joined(separator: ","))]}"#
            let first = try await client.post("/v1/push", push)
            #expect(first.status == 200, "\(first.text)")
            #expect(try await client.post("/v1/push", push).body == first.body)
            let refused = try await client.post(
                "/v1/merge/people", JournalTests.edit(#"{"person":{"state":{"old":"x","new":"y"}}}"#, id: 2))
            #expect(refused.status == 409, "\(refused.text)")
            #expect(try await client.get("/v1/records/people?limit=5").status == 200)
            #expect(try await client.get("/v1/records/people/2").status == 200)
            let ready = try await client.get("/readyz").json()
            #expect(ready["problems"]?.array.isEmpty == true && ready["journal"]?["bytes"] != nil, "\(ready)")
            let entries = try await Self.newEntries(client, few.database)
            #expect(entries.count == 16)
            return entries.compactMap { $0["number"]?.int?.description }
        }
        for command in [["list"], ["show", numbers[0]], ["refused"], ["undo", numbers[4]], ["init"]] {
            let said = try await few.run(["journal"] + command)
            #expect(said.status == 0, "\(command): \(said)")
        }
        #expect(try await few.refusals() == before)
        let sent = try await few.sent()
        #expect(
            sent.isSubset(of: [
                "SELECT", "INSERT", "UPDATE", "DELETE", "SHOW", "SET", "COMMIT", "ROLLBACK", "SAVEPOINT",
            ]),
            "\(sent.sorted())")
        #expect(sent.isSuperset(of: ["SELECT", "INSERT", "UPDATE", "DELETE", "COMMIT"]), "\(sent.sorted())")
        few.server.kill()
    }

    /// The count of refusals that the test above relies on.
    @Test("Statements that need more rights are counted", .tags(.mariadb), .needsMariaDB)
    func refusals() async throws {
        let few = try await LimitedAccount()
        let before = try await few.refusals()
        let denied = try await Shell.capture(
            ["mariadb", "--no-defaults", "--socket=" + few.server.socket, "-ufew", few.database.name],
            input: "CREATE TRIGGER t BEFORE INSERT ON people FOR EACH ROW SET NEW.points = 0;")
        #expect(denied.status != 0)
        #expect(try await few.refusals() != before)
        #expect(try await few.sent().contains("CREATE"))
        few.server.kill()
    }

    /// Rows of a junction have no groups, and are created and deleted all the same.
    @Test("The printed grants can be piped to the server and are enough", .tags(.mariadb), .needsMariaDB)
    func printed() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(
            .mariadb,
            mariadb: """
                CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20));
                CREATE TABLE clubs (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, must INT NOT NULL);
                CREATE TABLE members (person INT, club INT, PRIMARY KEY (person, club));
                INSERT INTO people VALUES (1, 'Ann'); INSERT INTO clubs VALUES (1, 'Chess', 1), (2, 'Go', 1);
                INSERT INTO members VALUES (1, 1);
                """, sqlite: "", server: server)
        let rules = [
            "people.yaml": """
            resource: people
            sections:
              person: {table: people, groups: {name: name}}
              clubs: {list: true, table: members, parent: {person: id}}
            """,
            // The missing column causes a warning, which must not be printed among the statements.
            "clubs.yaml": "resource: clubs\nsections:\n  club: {table: clubs, groups: {name: name}}\n",
        ]
        let folder = try TemporaryFolder(files: rules)
        let printed = try await Shell.capture([
            CommandLineTests.program, "check", "--rules", folder.path, "--database", database.asRoot.url, "--grants",
            "--grant-to", "few@localhost",
        ])
        #expect(printed.status == 0 && printed.errors.contains("0 errors, 1 warning"), "\(printed)")
        let lines = printed.output.split(separator: "\n")
        let grants = lines.filter { !$0.hasPrefix("-- ") }
        #expect(grants.count == 3 && grants.allSatisfy { $0.hasPrefix("GRANT ") && $0.hasSuffix(";") }, "\(lines)")
        #expect(lines.count == 4 && lines.last?.contains("GRANT REPLICATION SLAVE ON *.* TO few@localhost;") == true)
        try await server.run("CREATE USER few@localhost; " + printed.output)
        try await RunningGateway.with(database.asUser("few"), rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                for edit in [
                    #"{"id":[1,2],"old":null,"new":{}}"#, #"{"id":[1,1],"old":{},"new":null}"#,
                ] {
                    let merged = try await client.post(
                        "/v1/merge/people", #"{"id":1,"changeset":{"clubs":[\#(edit)]}}"#)
                    #expect(merged.status == 200, "\(merged.text)")
                }
            }
        }
        #expect(try await database.run("SELECT club FROM members") == "2\n")
        server.kill()
    }
}
