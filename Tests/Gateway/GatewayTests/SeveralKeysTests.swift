import Testing
import TestSupport

/// Two resources that find the rows of one table by different keys name the same rows.
@Suite(.serialized) struct SeveralKeysTests {
    private static func push(
        _ kind: TestEngine, _ sql: String, _ rules: [String: String], _ edits: [String]
    ) async throws -> (answer: HTTPClient.Answer, database: TestDatabase) {
        let sql = sql.replacing("NUMBER", with: kind == .mariadb ? "AUTO_INCREMENT" : "")
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let answer = try await RunningGateway.with(database, rules: rules, journal: .together) {
            gateway async throws in
            try await gateway.client {
                try await $0.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
            }
        }
        return (answer, database)
    }

    private static let accounts = """
        CREATE TABLE accounts (id INTEGER PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE, note VARCHAR(20),
          balance INTEGER, gone INTEGER NOT NULL DEFAULT 0);
        INSERT INTO accounts (id, code, balance) VALUES (1, 'x', 5), (2, 'y', 5);
        """

    private static func accounts(onFailure: String) -> [String: String] {
        [
            "ids.yaml": """
            resource: ids
            sections:
              account: {table: accounts, key: id, groups: {code: code, note: note, balance: balance}}
            """,
            "codes.yaml": """
            resource: codes
            sections:
              account:
                table: accounts
                key: code
                where: gone = 0
                groups: {balance: balance, gone: gone}
                checks: [{name: credit, sql: balance >= 0, fields: [balance], on-failure: \(onFailure)}]
            """,
        ]
    }

    private static func code(_ group: String, _ new: Int) -> String {
        let old = group == "balance" ? 5 : 0
        return #"{"resource":"codes","id":"x","changeset":{"account":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    private static let rename =
        #"{"resource":"ids","id":1,"changeset":{"account":{"code":{"old":"x","new":"z"}}}}"#

    @Test(
        "A row whose key another resource changes is still checked", arguments: TestEngine.allCases,
        ["balance", "gone"])
    func renamedRow(_ kind: TestEngine, _ group: String) async throws {
        let value = group == "balance" ? -5 : 1
        let (answer, database) = try await Self.push(
            kind, Self.accounts, Self.accounts(onFailure: "reject"), [Self.code(group, value), Self.rename])
        #expect(answer.status == 422, "\(answer.text)")
        #expect(try await database.run("SELECT code, balance, gone FROM accounts WHERE id = 1;") == "x\t5\t0\n")
    }

    @Test("A check reverts a row whose key another resource changes", arguments: TestEngine.allCases)
    func revertedRow(_ kind: TestEngine) async throws {
        let (answer, database) = try await Self.push(
            kind, Self.accounts, Self.accounts(onFailure: "server-wins"), [Self.code("balance", -5), Self.rename])
        #expect(try answer.json()["results"]?[0]?["outcomes"]?[0]?["outcome"]?.text == "server-won", "\(answer.text)")
        #expect(try await database.run("SELECT code, balance FROM accounts WHERE id = 1;") == "z\t5\n")
    }

    @Test("A check that reverts one row does not affect a write to another row", arguments: TestEngine.allCases)
    func otherRow(_ kind: TestEngine) async throws {
        let other = #"{"resource":"ids","id":2,"changeset":{"account":{"balance":{"old":5,"new":6}}}}"#
        let (answer, database) = try await Self.push(
            kind, Self.accounts, Self.accounts(onFailure: "server-wins"), [other, Self.code("balance", -5)])
        #expect(try answer.json()["results"]?[1]?["outcomes"]?[0]?["outcome"]?.text == "server-won", "\(answer.text)")
        #expect(try await database.run("SELECT balance FROM accounts ORDER BY id;") == "5\n6\n")
    }

    @Test("A check does not revert a value that another resource wrote", arguments: TestEngine.allCases)
    func sameRow(_ kind: TestEngine) async throws {
        let other = #"{"resource":"ids","id":1,"changeset":{"account":{"balance":{"old":5,"new":-6}}}}"#
        let (answer, database) = try await Self.push(
            kind, Self.accounts, Self.accounts(onFailure: "server-wins"), [Self.code("balance", -5), other])
        #expect(answer.status == 422, "\(answer.text)")
        #expect(try await database.run("SELECT balance FROM accounts ORDER BY id;") == "5\n5\n")
    }

    @Test("A deletion permits no other number than that of the deleted row", arguments: TestEngine.allCases)
    func generatedKey(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE goods (id INTEGER PRIMARY KEY NUMBER, code VARCHAR(9) NOT NULL UNIQUE, n INTEGER);
            INSERT INTO goods VALUES (1, 'a', 1), (2, 'b', 1);
            """
        let rules = [
            "goods.yaml": """
            resource: goods
            sections:
              item: {table: goods, groups: {n: n, code: code}}
            """,
            "codes.yaml": """
            resource: codes
            sections:
              item: {table: goods, key: code, groups: {n: n}}
            """,
        ]
        let deletion = #"{"resource":"codes","id":"a","changeset":{"item":{"old":{"n":1},"new":null}}}"#
        func creation(_ id: Int) -> String {
            #"{"resource":"goods","id":\#(id),"changeset":{"item":{"old":null,"new":{"n":7,"code":"z"}}}}"#
        }
        let chosen = try await Self.push(kind, sql, rules, [deletion, creation(2_147_483_647)])
        #expect(chosen.answer.status == 400, "\(chosen.answer.text)")
        let again = try await Self.push(kind, sql, rules, [deletion, creation(1)])
        #expect(again.answer.status == 200, "\(again.answer.text)")
        #expect(try await again.database.run("SELECT id, code FROM goods ORDER BY id;") == "1\tz\n2\tb\n")
    }

    @Test("The number of a deleted row is not used again", arguments: TestEngine.allCases)
    func nextNumber(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE positions (bill INTEGER, n INTEGER, code VARCHAR(9) NOT NULL UNIQUE, q INTEGER,
              PRIMARY KEY (bill, n));
            INSERT INTO positions VALUES (1, 1, 'a', 1), (1, 2, 'b', 1);
            """
        let rules = [
            "positions.yaml": """
            resource: positions
            sections:
              position: {table: positions, key: [bill, n], number: next, groups: {q: q, code: code}}
            """,
            "codes.yaml": """
            resource: codes
            sections:
              position: {table: positions, key: code, groups: {q: q}}
            """,
        ]
        let edits = [
            #"{"resource":"codes","id":"b","changeset":{"position":{"old":{"q":1},"new":null}}}"#,
            #"{"resource":"positions","id":[1,"tmp:a"],"changeset":{"position":{"old":null,"new":{"q":7,"code":"c"}}}}"#,
        ]
        let (answer, database) = try await Self.push(kind, sql, rules, edits)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await database.run("SELECT n, code FROM positions ORDER BY n;") == "1\ta\n3\tc\n")
    }
}
