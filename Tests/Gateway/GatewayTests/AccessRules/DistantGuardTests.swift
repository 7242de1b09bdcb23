import Testing
import TestSupport

/// Guards that test rows of another table, which the same push writes.
@Suite(.timeLimit(.minutes(5))) struct DistantGuardTests {
    private static let sql = """
        CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(20));
        CREATE TABLE parts (id INT PRIMARY KEY, order_id INT, title VARCHAR(20));
        CREATE TABLE bills (id INT PRIMARY KEY, order_id INT, paid INT NOT NULL);
        INSERT INTO orders VALUES (1, 'n'), (2, 'n');
        INSERT INTO parts VALUES (1, 1, 't'), (2, 2, 't');
        INSERT INTO bills VALUES (1, 1, 0), (2, 2, 1);
        """
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            frozen-when: "EXISTS (SELECT 1 FROM bills WHERE bills.order_id = orders.id AND bills.paid = 1)"
            groups: {note: note}
          parts:
            list: true
            table: parts
            parent: {order_id: id}
            frozen-when: "EXISTS (SELECT 1 FROM bills WHERE bills.order_id = parts.order_id AND bills.paid = 1)"
            groups: {title: title}
        """,
        "bills.yaml": """
        resource: bills
        sections:
          bill: {table: bills, groups: {paid: paid}}
        """,
    ]

    private static func bill(_ id: Int, paid: Int) -> String {
        #"{"resource":"bills","id":\#(id),"changeset":{"bill":{"paid":{"old":\#(1 - paid),"new":\#(paid)}}}}"#
    }

    private static func order(_ id: Int, _ change: String) -> String {
        #"{"resource":"orders","id":\#(id),"changeset":{\#(change)}}"#
    }

    private static let note = #""order":{"note":{"old":"n","new":"m"}}"#
    private static func title(_ id: Int) -> String { #""parts":[{"id":\#(id),"title":{"old":"t","new":"u"}}]"# }
    private static let deletion = #""order":{"old":{"note":"n"},"new":null}"#

    @Test(
        "A guard tests the rows as they were before the push", arguments: TestEngine.allCases,
        [
            ([bill(1, paid: 1), order(1, note)], ["applied"]),
            ([bill(2, paid: 0), order(2, note)], ["server-won"]),
            ([bill(1, paid: 1), order(1, title(1))], ["applied"]),
            ([bill(2, paid: 0), order(2, title(2))], ["server-won"]),
            (
                [bill(1, paid: 1), bill(2, paid: 0), order(1, note), order(2, note + "," + title(2))],
                ["server-won", "server-won"]
            ),
            ([bill(2, paid: 0), order(2, deletion)], ["kept"]),
        ])
    func guardsTestTheStart(_ kind: TestEngine, _ push: (edits: [String], outcomes: [String])) async throws {
        for atomic in ["push", "edit"] {
            let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
            let answer = try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway in
                try await gateway.client {
                    try await $0.post(
                        "/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(push.edits.joined(separator: ","))]}"#)
                }
            }
            let outcomes = try answer.json()["results"]?.array.last?["outcomes"]?.array.compactMap {
                $0["outcome"]?.text
            }
            #expect(outcomes == push.outcomes, "\(atomic): \(answer.text)")
        }
    }
}
