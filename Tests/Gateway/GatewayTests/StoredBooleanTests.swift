import Operations
import Testing
import TestSupport

/// Booleans that a column stores as two other values (`values`).
@Suite(.timeLimit(.minutes(5))) struct StoredBooleanTests {
    private static func tables(_ key: String, _ answer: String) -> String {
        """
        CREATE TABLE customers (id \(key), name VARCHAR(20), active CHAR(1) DEFAULT 'J',
          answer \(answer), debt INTEGER NOT NULL DEFAULT 0, odd VARCHAR(5) NOT NULL DEFAULT '1');
        CREATE TABLE visits (id \(key), customer INTEGER, done CHAR(1) NOT NULL DEFAULT 'N');
        INSERT INTO customers VALUES (1, 'Ann', 'J', 'yes', 0, '1'), (2, 'Bob', 'N', 'no', -1, '0'),
          (3, 'Cid', NULL, NULL, 0, '1'), (4, 'Dot', 'x', 'no', 0, '1');
        INSERT INTO visits VALUES (1, 1, 'J'), (2, 1, 'N');
        """
    }

    private static let flags = """
              name: name
              active: {column: active, type: boolean, values: {"true": J, "false": N}, transitions: {true: [false], false: []}}
              answer: {column: answer, type: boolean, values: {true: "yes", false: "no"}, on-conflict: server-wins}
              debt: {column: debt, type: boolean, values: {"true": -1, "false": 0}}
              odd: {column: odd, type: boolean, values: {"true": "0", "false": "1"}}
        """

    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer:
            table: customers
            groups:
        \(flags)
          visits:
            list: true
            table: visits
            parent: customer
            identity: [done]
            groups: {done: {column: done, type: boolean, values: {"true": J, "false": N}}}
        access:
          debtors: {read: all, write: all, rows: {debt: {value: true}}}
          others: {read: all, write: all, rows: {debt: {not: {claim: debt}}}}
          office: {read: all, write: all, create: true, delete: true, rows: all}
        """,
        "texts.yaml": """
        resource: texts
        sections: {text: {table: customers, groups: {active: active, odd: odd}}}
        """,
    ]

    private static let office = Rounds.Client("office", ["office"], rights: [.read, .write, .operate])
    private static let debtors = Rounds.Client("debtors", ["debtors"])
    private static let others = Rounds.Client("others", ["others"], claims: #"{"debt": true}"#)

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: tables("INTEGER PRIMARY KEY AUTO_INCREMENT", "ENUM('yes', 'no')"),
            sqlite: tables("INTEGER PRIMARY KEY", "VARCHAR(3)"))
        try await RunningGateway.with(
            database, rules: rules, tokens: [office, debtors, others].map(\.line).joined(separator: "\n"),
            journal: .together, body)
    }

    private static func merge(
        _ gateway: RunningGateway, _ id: String, _ changeset: String
    ) async throws -> HTTPClient.Answer {
        try await gateway.post(
            "/v1/merge/customers", #"{"id":\#(id),"changeset":\#(changeset)}"#, as: office)
    }

    @Test("Stored values are read as booleans", arguments: TestEngine.allCases)
    func reading(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let first = try await gateway.get("/v1/records/customers/1", as: Self.office).json()["customer"]
            #expect(first?.description == #"{"active":true,"answer":true,"debt":false,"name":"Ann","odd":false}"#)
            let second = try await gateway.get("/v1/records/customers/2", as: Self.office).json()["customer"]
            #expect(second?.description == #"{"active":false,"answer":false,"debt":true,"name":"Bob","odd":true}"#)
            let third = try await gateway.get("/v1/records/customers/3", as: Self.office).json()["customer"]
            #expect(third?["active"]?.isNull == true && third?["answer"]?.isNull == true, "\(third ?? JSON(text: ""))")
            let rules = try await gateway.get("/v1/rules", as: Self.office).text
            #expect(rules.contains(#"{"field":"active","type":"boolean","nullable":true}"#), "\(rules)")
        }
    }

    @Test("A stored value that is neither makes the record unreadable", arguments: TestEngine.allCases)
    func neither(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let fourth = try await gateway.get("/v1/records/customers/4", as: Self.office)
            #expect(fourth.status == 422 && fourth.text.contains("unreadable-record"), "\(fourth.text)")
            let page = try await gateway.get("/v1/records/customers", as: Self.office)
            #expect(try page.json()["records"]?.array.count == 4, "\(page.text)")
        }
    }

    @Test("Edits compare, write and undo the stored values", arguments: TestEngine.allCases)
    func writing(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let edit =
                #"{"customer":{"debt":{"old":false,"new":true},"odd":{"old":0,"new":1},"#
                + #""active":{"old":true,"new":false}}}"#
            let applied = try await Self.merge(gateway, "1", edit)
            let outcomes = try applied.json()["outcomes"]?.array.map { $0["outcome"]?.text } ?? []
            #expect(applied.status == 200 && outcomes == ["applied", "applied", "applied"], "\(applied.text)")
            let row = "SELECT active, answer, debt, odd FROM customers WHERE id = 1;"
            #expect(try await gateway.database.run(row) == "N\tyes\t-1\t0\n")
            // The transition of false allows nothing.
            let final = try await Self.merge(gateway, "1", #"{"customer":{"active":{"old":false,"new":true}}}"#)
            #expect(final.text.contains("server-won"), "\(final.text)")
            let conflict = try await Self.merge(gateway, "2", #"{"customer":{"answer":{"old":true,"new":null}}}"#)
            #expect(
                conflict.text.contains(#""old":true,"current":false,"new":null,"written":false"#), "\(conflict.text)")
            for sent in ["\"yes\"", "\"J\"", "-1"] {
                let refused = try await Self.merge(
                    gateway, "2", #"{"customer":{"answer":{"old":false,"new":\#(sent)}}}"#)
                #expect(refused.status == 400, "\(refused.text)")
            }
            let undone = try await gateway.post("/v1/journal/1/undo", "{}", as: Self.office)
            #expect(undone.status == 200, "\(undone.text)")
            // The transition of false forbids the return to true.
            #expect(try await gateway.database.run(row) == "N\tyes\t0\t1\n")
        }
    }

    @Test("Creations and identity use the stored values", arguments: TestEngine.allCases)
    func creating(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let gone = try await Self.merge(
                gateway, "2", #"{"customer":{"old":{"debt":true,"active":false},"new":null}}"#)
            #expect(gone.text.contains("deleted") && !gone.text.contains("conflict"), "\(gone.text)")
            let undone = try await gateway.post("/v1/journal/1/undo", "{}", as: Self.office)
            #expect(undone.status == 200, "\(undone.text)")
            let back = try await gateway.database.run("SELECT active, answer, debt, odd FROM customers WHERE id = 2;")
            #expect(back == "N\tno\t-1\t0\n")
            let made = try await Self.merge(
                gateway, "\"tmp:a\"", #"{"customer":{"old":null,"new":{"name":"Eve","active":false,"debt":true}}}"#)
            #expect(made.status == 200, "\(made.text)")
            let found = try await gateway.database.run("SELECT active, debt, odd FROM customers WHERE name = 'Eve';")
            #expect(found == "N\t-1\t1\n")
            let met = try await Self.merge(
                gateway, "1", #"{"visits":[{"id":"tmp:v","old":null,"new":{"done":true}}]}"#)
            #expect(try met.json()["ids"]?["tmp:v"]?.int == 1, "\(met.text)")
        }
    }

    @Test("Conditions of roles use the stored values", arguments: TestEngine.allCases)
    func conditions(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            func ids(_ client: Rounds.Client) async throws -> [Int] {
                try await gateway.get("/v1/records/customers", as: client).json()["records"]?.array
                    .compactMap { $0["id"]?.int } ?? []
            }
            #expect(try await ids(Self.debtors) == [2])
            #expect(try await ids(Self.others) == [1, 3, 4])
            let left = try await gateway.post(
                "/v1/merge/customers", #"{"id":2,"changeset":{"customer":{"debt":{"old":true,"new":false}}}}"#,
                as: Self.debtors)
            #expect(left.text.contains("outside-rows"), "\(left.text)")
        }
    }

    @Test("Two resources read one column as boolean and as text, also in one push", arguments: TestEngine.allCases)
    func twoResources(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            func edit(_ resource: String, _ section: String, _ id: Int, _ old: String, _ new: String) -> String {
                #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"odd":{"old":\#(old),"new":\#(new)}}}}"#
            }
            for atomic in ["push", "edit"] {
                let edits = [
                    edit("customers", "customer", 1, "false", "true"), edit("texts", "text", 2, "\"0\"", "\"1\""),
                    edit("texts", "text", 1, "\"0\"", "\"1\""), edit("customers", "customer", 2, "false", "true"),
                    edit("customers", "customer", 3, "false", "true"), edit("texts", "text", 3, "\"0\"", "\"1\""),
                ]
                let answer = try await gateway.post(
                    "/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#, as: Self.office)
                #expect(answer.status == 200 && !answer.text.contains("conflict"), "\(answer.text)")
                let rows = try await gateway.database.run("SELECT odd FROM customers WHERE id < 4 ORDER BY id;")
                #expect(rows == "1\n0\n1\n")
            }
            // Pushes that arrive together share a statement only if the columns have one type.
            try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                group.addTask {
                    try await gateway.post(
                        "/v1/push", "{\"edits\":[\(edit("customers", "customer", 1, "false", "true"))]}",
                        as: Self.office)
                }
                group.addTask {
                    try await gateway.post(
                        "/v1/push", "{\"edits\":[\(edit("texts", "text", 2, "\"0\"", "\"1\""))]}", as: Self.office)
                }
                for try await answer in group { #expect(answer.status == 200, "\(answer.text)") }
            }
            #expect(try await gateway.database.run("SELECT odd FROM customers WHERE id < 3 ORDER BY id;") == "0\n1\n")
        }
    }
}
