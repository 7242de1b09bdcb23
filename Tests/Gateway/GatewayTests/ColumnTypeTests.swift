import Testing
import TestSupport

/// Every type of MariaDB is read, compared, written and refused as in section 2 of Protocol.md.
@Suite struct ColumnTypeTests {
    private static func database(_ server: PrivateMariaDB? = nil) async throws -> TestDatabase {
        try await TestDatabase(.mariadb, mariadb: ColumnTypeSamples.schema, sqlite: "", server: server)
    }

    @Test("An unchanged record writes nothing", .tags(.mariadb), .needsMariaDB)
    func unchanged() async throws {
        let database = try await Self.database()
        let sum = "CHECKSUM TABLE museum, errors"
        let before = try await database.run(sum)
        try await RunningGateway.with(database, rules: ColumnTypeSamples.rules) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) == 3)
        }
        #expect(try await database.run(sum) == before)
    }

    @Test("Each column is read and written, and refuses values that do not fit", .tags(.mariadb), .needsMariaDB)
    func columns() async throws {
        let database = try await Self.database()
        try await RunningGateway.with(database, rules: ColumnTypeSamples.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let first = try await client.get("/v1/records/museum/1").json()["exhibit"]
                #expect(first?["shape"]?.text == "POINT(1 2)")
                for (index, exhibit) in ColumnTypeSamples.exhibits.enumerated() {
                    let group = ColumnTypeSamples.group(index)
                    #expect(
                        first?[group] == (try JSON(exhibit.read)),
                        "\(exhibit) reads \(first?[group]?.description ?? "nothing")")
                    for wrong in exhibit.refused {
                        let answer = try await client.post("/v1/merge/museum", Self.edit(group, exhibit.read, wrong))
                        #expect(answer.status == 400, "\(exhibit) took \(wrong): \(answer.text)")
                        #expect(try answer.json()["path"]?.text == "changeset.exhibit.\(group).new")
                    }
                    try await Self.write(exhibit, group, client, database)
                }
            }
        }
    }

    /// Writes one column, and expects no other change than that of the server's columns.
    private static func write(
        _ exhibit: ColumnSample, _ group: String, _ client: HTTPClient.Session, _ database: TestDatabase
    ) async throws {
        let before = try await client.get("/v1/records/museum/1").json()["exhibit"]?.object ?? [:]
        let answer = try await client.post("/v1/merge/museum", edit(group, exhibit.read, exhibit.edit))
        #expect(answer.status == 200, "\(exhibit): \(answer.text)")
        let json = try answer.json()
        #expect(json["outcomes"]?[0]?["outcome"]?.text == "applied", "\(exhibit): \(answer.text)")
        let after = json["record"]?["exhibit"]?.object ?? [:]
        let changed = Set(before.keys.filter { before[$0] != after[$0] })
        #expect(changed.contains(group) && changed.contains("touched"), "\(exhibit): \(changed)")
        #expect(changed.subtracting([group, "touched", "doubled"]).isEmpty, "\(exhibit) changed \(changed)")
        let found = try await database.run(
            "SET NAMES utf8mb4; SET time_zone = '+00:00'; SELECT \(ColumnTypeSamples.column(exhibit)) \(exhibit.check) FROM museum WHERE id = 1;"
        )
        #expect(found == "1\n", "\(exhibit) holds something else")
        // The same edit again finds its work done.
        let again = try await client.post("/v1/merge/museum", edit(group, exhibit.read, exhibit.edit))
        #expect(try again.json()["outcomes"]?[0]?["outcome"]?.text == "already", "\(exhibit): \(again.text)")
        // A column that may be NULL can be cleared and read.
        let cleared = try await client.post("/v1/merge/museum", edit(group, exhibit.edit, "null"))
        #expect(try cleared.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(exhibit): \(cleared.text)")
    }

    private static func edit(_ group: String, _ old: String, _ new: String) -> String {
        #"{"id":1,"changeset":{"exhibit":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    @Test("The error value of an ENUM can be a base but not a new value", .tags(.mariadb), .needsMariaDB)
    func enumErrorValue() async throws {
        try await RunningGateway.with(try await Self.database(), rules: ColumnTypeSamples.rules) {
            gateway async throws in
            try await gateway.client { client async throws in
                let wrong = try await client.post(
                    "/v1/merge/errors", #"{"id":1,"changeset":{"row":{"e":{"old":"a","new":""}}}}"#)
                #expect(wrong.status == 400)
                let right = try await client.post(
                    "/v1/merge/errors", #"{"id":1,"changeset":{"row":{"e":{"old":"","new":"a"}}}}"#)
                #expect(try right.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(right.text)")
            }
        }
    }

    /// A server with every unkind setting that an old installation may have.
    @Test("A server with unusual settings returns the same answers", .tags(.mariadb), .needsMariaDB)
    func otherSettings() async throws {
        let server = try await PrivateMariaDB(options: [
            "--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,NO_ZERO_DATE", "--default-time-zone=+05:30",
            "--log-bin", "--binlog-format=STATEMENT", "--innodb-snapshot-isolation=ON", "--lower-case-table-names=1",
            "--character-set-server=latin1", "--transaction-isolation=SERIALIZABLE",
        ])
        let database = try await TestDatabase(
            .mariadb, mariadb: "SET sql_mode = '';\n" + MergeTests.mariadb, sqlite: "", server: server)
        try await RunningGateway.with(database, rules: MergeTests.rules) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) == 2)
            try await gateway.client { client async throws in
                let body =
                    #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"It's \\ \"Ann\""}},"items":[{"id":-1,"old":null,"new":{"what":"ü"}}]}}"#
                let answer = try await client.post("/v1/merge/people", body)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer.json()["record"]?["person"]?["name"]?.text == #"It's \ "Ann""#)
                #expect(try answer.json()["record"]?["items"]?[2]?["what"]?.text == "ü")
            }
        }
        server.kill()
    }

    /// The GRANTs that `check --grants` prints are enough for all that the gateway does.
    @Test("The printed grants are enough", .tags(.mariadb), .needsMariaDB)
    func grants() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(
            .mariadb, mariadb: MergeTests.mariadb + ColumnTypeSamples.schema, sqlite: "", server: server)
        let folder = try TemporaryFolder()
        for (name, text) in MergeTests.rules.merging(ColumnTypeSamples.rules, uniquingKeysWith: { $1 }) {
            try await Shell.run(["tee", folder.path + "/" + name], input: text)
        }
        let check = Repository.root + ".build/debug/fieldmerge"
        let printed = try await Shell.run([
            check, "check", "--rules", folder.path, "--database", database.url, "--grants", "--grant-to",
            "'few'@'localhost'",
        ])
        let grants = printed.split(separator: "\n").filter { $0.hasPrefix("GRANT ") }
        // Five tables that the rules name, and two whose rows go and change with theirs.
        #expect(grants.count == 7, "\(printed)")
        try await server.run("CREATE USER 'few'@'localhost'; " + grants.joined(separator: " "))
        let few = database.asUser("few")
        let rules = MergeTests.rules.merging(ColumnTypeSamples.rules, uniquingKeysWith: { $1 })
        try await RunningGateway.with(few, rules: rules) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) == 5)
            try await gateway.client { client async throws in
                let push = #"""
                    {"edits":[{"resource":"people","id":-1,"changeset":{"person":{"old":null,"new":{"name":"New"}},
                      "items":[{"old":null,"new":{"what":"x"}}]}},
                     {"resource":"people","id":1,"changeset":{"person":{"old":{"name":"Ann"},"new":null}}}]}
                    """#
                let answer = try await client.post("/v1/push", push)
                #expect(answer.status == 200, "\(answer.text)")
                let broken = try await client.post(
                    "/v1/merge/people", #"{"id":2,"changeset":{"person":{"credit":{"old":"20","new":"-1"}}}}"#)
                #expect(try broken.json()["problem"]?["fields"] == (try JSON(#"["credit"]"#)), "\(broken.text)")
            }
        }
        server.kill()
    }
}
