import TestSupport
import Testing

/// Rows that refer to a row which is `missing` because its record was deleted.
@Suite(.timeLimit(.minutes(2))) struct DependentRowTests {
    private static func sql(_ key: String) -> String {
        """
        CREATE TABLE orders (id \(key), name VARCHAR(20) NOT NULL);
        CREATE TABLE parts (id \(key), order_id INT NOT NULL, what VARCHAR(20) NOT NULL);
        CREATE TABLE notes (id \(key), order_id INT NOT NULL, line_id INT NOT NULL, txt VARCHAR(20),
          FOREIGN KEY (line_id) REFERENCES parts (id));
        CREATE TABLE tasks (id \(key), line_id INT, txt VARCHAR(20), FOREIGN KEY (line_id) REFERENCES parts (id));
        CREATE TABLE steps (id \(key), task_id INT NOT NULL, txt VARCHAR(20));
        CREATE TABLE labels (line_id INT NOT NULL, no INT NOT NULL, txt VARCHAR(20), PRIMARY KEY (line_id, no),
          FOREIGN KEY (line_id) REFERENCES parts (id));
        INSERT INTO orders (id, name) VALUES (2, 'open');
        INSERT INTO tasks (id, line_id, txt) VALUES (5, NULL, 'pack');
        """
    }

    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, groups: {name: name}}
          lines: {list: true, table: parts, parent: {order_id: id}, groups: {what: what}}
          notes: {list: true, table: notes, parent: {order_id: id}, groups: {line: line_id, txt: txt}}
        """,
        "tasks.yaml": """
        resource: tasks
        sections:
          task: {table: tasks, groups: {line: line_id, txt: txt}}
          steps: {list: true, table: steps, parent: {task_id: id}, groups: {txt: txt}}
        """,
        "labels.yaml": "resource: labels\nsections:\n  label: {table: labels, groups: {txt: txt}}\n",
    ]

    private static let order = #"""
        {"resource":"orders","id":1,"changeset":{
          "lines":[{"id":"tmp:line","old":null,"new":{"what":"Tea"}}],
          "notes":[{"id":"tmp:note","old":null,"new":{"line":"tmp:line","txt":"hot"}}]}}
        """#

    private static func edit(_ resource: String, _ id: String, _ changeset: String) -> String {
        #"{"resource":"\#(resource)","id":\#(id),"changeset":{\#(changeset)}}"#
    }

    private static func push(_ key: String, _ edits: [String]) -> String {
        #"{"key":"\#(key)","edits":[\#(edits.joined(separator: ","))]}"#
    }

    private static let later = push("later", [edit("orders", "2", #""order":{"name":{"old":"open","new":"sent"}}"#)])

    private static func sync(
        _ kind: TestEngine, _ pushes: [String],
        _ body: @escaping @Sendable (_ results: [JSON], TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: sql("INT PRIMARY KEY AUTO_INCREMENT"), sqlite: sql("INTEGER PRIMARY KEY AUTOINCREMENT"))
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let answer = try await client.post("/v1/sync", #"{"pushes":[\#(pushes.joined(separator: ","))]}"#)
                try await body(try answer.json()["results"]?.array ?? [], database)
            }
        }
    }

    private static func kinds(_ result: JSON?) -> [String?] {
        result?["outcomes"]?.array.map { $0["outcome"]?.text } ?? []
    }

    @Test("A new row that refers to a missing row of the same record is missing", arguments: TestEngine.allCases)
    func ofTheSameRecord(_ kind: TestEngine) async throws {
        try await Self.sync(kind, [Self.push("k", [Self.order]), Self.later]) { results, database async throws in
            #expect(results.map { $0["status"]?.text } == ["merged", "merged"], "\(results)")
            #expect(Self.kinds(results.first?["results"]?[0]) == ["missing", "missing"], "\(results)")
            #expect(try await database.run("SELECT name FROM orders;") == "sent\n")
            #expect(try await database.run("SELECT COUNT(*) FROM notes;") == "0\n")
        }
    }

    @Test(
        "A new record that refers to a missing row is missing with its items",
        arguments: TestEngine.allCases, ["push", "edit"])
    func ofAnotherRecord(_ kind: TestEngine, _ atomic: String) async throws {
        let task = Self.edit(
            "tasks", #""tmp:task""#,
            #""task":{"old":null,"new":{"line":"tmp:line","txt":"x"}},"steps":[{"old":null,"new":{"txt":"y"}}]"#)
        let push = #"{"key":"k","atomic":"\#(atomic)","edits":[\#(task),\#(Self.order)]}"#
        try await Self.sync(kind, [push, Self.later]) { results, database async throws in
            #expect(results.map { $0["status"]?.text } == ["merged", "merged"], "\(results)")
            let first = results.first?["results"]?[0]
            #expect(Self.kinds(first) == ["missing", "missing"], "\(results)")
            #expect(first?["record"]?.isNull == true && first?["id"]?.text == "tmp:task", "\(results)")
            #expect(try await database.run("SELECT id FROM tasks;") == "5\n")
            #expect(try await database.run("SELECT COUNT(*) FROM steps;") == "0\n")
        }
    }

    @Test(
        "An edit whose row would refer to a missing row is missing and changes nothing", arguments: TestEngine.allCases)
    func ofAnExistingRow(_ kind: TestEngine) async throws {
        let task = Self.edit(
            "tasks", "5", #""task":{"line":{"old":null,"new":"tmp:line"},"txt":{"old":"pack","new":"send"}}"#)
        try await Self.sync(kind, [Self.push("k", [Self.order, task]), Self.later]) { results, database async throws in
            #expect(results.map { $0["status"]?.text } == ["merged", "merged"], "\(results)")
            let result = results.first?["results"]?[1]
            #expect(Self.kinds(result) == ["missing"], "\(results)")
            let outcome = result?["outcomes"]?[0]
            #expect(outcome?["conflict"]?.bool == true, "\(results)")
            #expect(outcome?["current"]?["txt"]?.text == "pack", "\(results)")
            #expect(outcome?["written"]?["txt"]?.text == "pack", "\(results)")
            #expect(result?["record"]?["task"]?["txt"]?.text == "pack", "\(results)")
            #expect(try await database.run("SELECT txt FROM tasks WHERE line_id IS NULL;") == "pack\n")
        }
    }

    @Test("A new row whose key contains the key of a missing row is missing", arguments: TestEngine.allCases)
    func ofAKey(_ kind: TestEngine) async throws {
        let label = Self.edit("labels", #"["tmp:line",1]"#, #""label":{"old":null,"new":{"txt":"x"}}"#)
        try await Self.sync(kind, [Self.push("k", [label, Self.order]), Self.later]) { results, database async throws in
            #expect(results.map { $0["status"]?.text } == ["merged", "merged"], "\(results)")
            #expect(Self.kinds(results.first?["results"]?[0]) == ["missing"], "\(results)")
            #expect(try await database.run("SELECT COUNT(*) FROM labels;") == "0\n")
        }
    }
}
