import Foundation
import Operations
import Testing
import TestSupport

/// Common mistakes of new users.
///
/// Each message names the remedy.
@Suite(.timeLimit(.minutes(2))) struct FirstHourTests {
    private static let schema = """
        CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, street VARCHAR(20), town VARCHAR(20),
          must INT NOT NULL);
        INSERT INTO people VALUES (1, 'Ann', 'a', 'b', 1);
        """
    private static let rules = [
        "people.yaml": """
        resource: people
        sections:
          person:
            table: people
            groups: {name: name, place: {fields: {street: street, town: town}}}
          items:
            list: true
            table: people
            parent: {id: id}
            groups: {town: town}
        """
    ]

    private static func detail(_ answer: HTTPClient.Answer) throws -> String {
        let body = try answer.json()
        return (body["problem"] ?? body)["detail"]?.text ?? ""
    }

    @Test("Refusals name the expected value", arguments: TestEngine.allCases)
    func refusals(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.schema, sqlite: Self.schema)
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let post = { (changeset: String) async throws in
                    try await client.post("/v1/merge/people", #"{"id":1,"changeset":\#(changeset)}"#)
                }
                let section = try await post(#"{"persn":{}}"#)
                #expect(section.status == 400)
                #expect(try Self.detail(section).contains("did you mean “person”?"), "\(section.text)")
                let sections = try await post(#"{"customer":{}}"#)
                #expect(try Self.detail(sections).contains("the sections are “person” and “items”"), "\(sections.text)")
                for bare in [#""Bob""#, "null", "7", "[1]"] {
                    let group = try await post(#"{"person":{"name":\#(bare)}}"#)
                    #expect(try group.status == 400 && group.json()["path"]?.text == "changeset.person.name")
                    #expect(
                        try Self.detail(group).contains(#"{"old": what was read, "new": what is wanted}"#),
                        "\(group.text)")
                }
                let values = try await post(#"{"person":{"place":{"street":"x","town":"y"}}}"#)
                #expect(
                    try Self.detail(values).contains(#"{"old": what was read, "new": what is wanted}"#),
                    "\(values.text)")
                let create = #"{"id":2,"changeset":{"person":{"old":null,"new":{\#(#""street":"a""#)}}}}"#
                let unnamed = try await client.post("/v1/merge/people", create)
                #expect(unnamed.status == 422 && unnamed.text.contains("not-null"), "\(unnamed.text)")
                #expect(try Self.detail(unnamed).contains("“name”"), "\(unnamed.text)")
                // A column that no rule names stops every creation, and only its name helps.
                let hidden = try await client.post(
                    "/v1/merge/people", create.replacing(#""street":"a""#, with: #""name":"Bob""#))
                #expect(hidden.status == 422 && hidden.text.contains("not-null"), "\(hidden.text)")
                #expect(
                    try Self.detail(hidden).contains("column “must”, which the rules do not name"), "\(hidden.text)")
            }
        }
    }

    // MARK: The command line

    @Test("A password in the URL is refused")
    func passwordInURL() async throws {
        let said = try await Shell.capture([
            GatewayProcess.program, "check", "--rules", Repository.root + "MergeRules", "--database",
            "mariadb://shop:secret77@127.0.0.1/shop",
        ])
        #expect(said.status == 1 && !(said.output + said.errors).contains("secret77"), "\(said)")
        #expect(said.errors.contains("--database-password-file"), "\(said.errors)")
        #expect(said.errors.contains("FIELDMERGE_DATABASE_PASSWORD"), "\(said.errors)")
    }

    @Test("A used port is named")
    func usedPort() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.schema)
        let gateway = try await GatewayProcess(database, rules: Self.rules)
        let folder = try TemporaryFolder(
            files: Self.rules.merging(["tokens": AccessToken.make().line(name: "a", rights: [.read])]) { $1 })
        let said = try await Shell.capture([
            GatewayProcess.program, "serve", "--database", database.url, "--journal", "off", "--rules", folder.path,
            "--listen", "127.0.0.1:\(gateway.port)",
        ])
        #expect(said.status == 1 && said.errors.contains("port \(gateway.port) is taken"), "\(said.errors)")
        #expect(!said.errors.contains("bind("), "\(said.errors)")
        let elsewhere = try await Shell.capture([
            GatewayProcess.program, "serve", "--database", database.url, "--journal", "off", "--rules", folder.path,
            "--listen", "203.0.113.7:1", "--tokens", folder.path + "/tokens",
        ])
        #expect(elsewhere.errors.contains("this machine has no address 203.0.113.7"), "\(elsewhere.errors)")
        #expect(await gateway.stop() == 0)
    }

    @Test("A file that is no rule file is named")
    func otherFile() async throws {
        let folder = try TemporaryFolder(files: Self.rules.merging(["more.yml": "resource: more\n"]) { $1 })
        let beside = try await Shell.capture([GatewayProcess.program, "check", "--rules", folder.path])
        #expect(beside.status == 0 && beside.output.contains("0 errors, 1 warning"), "\(beside)")
        #expect(beside.output.contains("more.yml:1:1: warning: the file is not read: rule files end in .yaml"))
        let alone = try TemporaryFolder(files: ["more.yml": "resource: more\n"])
        let said = try await Shell.capture([GatewayProcess.program, "check", "--rules", alone.path])
        #expect(said.status == 1 && said.output.contains("more.yml:1:1: warning: "), "\(said)")
    }

    @Test("A rule file that disappears is reported")
    func missingFile() async throws {
        let database = try await TestDatabase(
            .sqlite, mariadb: "", sqlite: Self.schema + "CREATE TABLE towns (id INT PRIMARY KEY, name TEXT);")
        let towns = "resource: towns\nsections:\n  town: {table: towns, groups: {name: name}}\n"
        let gateway = try await GatewayProcess(database, rules: Self.rules.merging(["towns.yaml": towns]) { $1 })
        try FileManager.default.removeItem(atPath: gateway.rulesFolder + "/towns.yaml")
        let line = try #require(await gateway.line(containing: "towns.yaml"))
        #expect(line.contains(" warning ") && line.contains("is gone: “towns” is served no more"), "\(line)")
        #expect(await gateway.stop() == 0)
    }

    /// A container's probe returns the result of `/readyz`.
    @Test("The command line can query readiness")
    func probe() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.schema)
        let gateway = try await GatewayProcess(database, rules: Self.rules)
        let ask = [GatewayProcess.program, "ready", "--listen", "127.0.0.1:\(gateway.port)"]
        let ready = try await Shell.capture(ask)
        #expect(try ready.status == 0 && JSON(ready.output)["status"]?.text == "ready", "\(ready)")
        let everywhere = try await Shell.capture([
            GatewayProcess.program, "ready", "--listen", "0.0.0.0:\(gateway.port)",
        ])
        #expect(everywhere.status == 0, "\(everywhere)")
        #expect(await gateway.stop() == 0)
        let gone = try await Shell.capture(ask)
        #expect(gone.status == 1 && gone.errors.contains("nothing answers at 127.0.0.1"), "\(gone)")
    }

    @Test("The reason of a gateway that is not ready is printed", .tags(.mariadb), .needsMariaDB)
    func notReady() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(.mariadb, mariadb: Self.schema, sqlite: "", server: server)
        server.kill()
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            let said = try await Shell.capture([
                GatewayProcess.program, "ready", "--listen", "127.0.0.1:\(gateway.port)",
            ])
            #expect(try said.status == 1 && JSON(said.output)["status"]?.text == "not-ready", "\(said)")
        }
    }
}
