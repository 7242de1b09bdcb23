import FieldMergeTesting
import GRDB
import GRDBSQLite
import Testing

@testable import FieldMergeClient

/// The cost of an answer, counted in steps of SQLite's virtual machine.
@Suite(.timeLimit(.minutes(2))) struct QueueCostTests {
    /// Returns the steps of all statements so far.
    private static func steps(_ db: Database) -> Int {
        var (steps, statement) = (0, sqlite3_next_stmt(db.sqliteConnection, nil))
        while let current = statement {
            steps += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0))
            statement = sqlite3_next_stmt(db.sqliteConnection, current)
        }
        return steps
    }

    /// The steps of the answer to the first push of a queue.
    ///
    /// - Parameters:
    ///   - others: the number of later pushes that are independent of it.
    ///   - isRefused: true if the answer refuses it.
    private static func cost(others: Int, isRefused: Bool) async throws -> Int {
        let store = try await StoreTests.synced(StoreTests.gateway())
        let id = try await store.create("aisles") { $0["aisle", "name"] = "Oils" }.id
        for number in 0..<others {
            try await store.create("aisles") { $0["aisle", "name"] = .string("Aisle \(number)") }
        }
        try await store.edit("shoppers", 123) { $0["groceries", 0, "aisle"] = id }
        return try await store.file.write("answer") { ledger in
            #expect(try ledger.takeLease())
            let push = try #require(try ledger.freeze(BatchLimits(isSingle: true)).first)
            let before = steps(ledger.db)
            if isRefused {
                try ledger.storeRefusal(push, ["code": "check", "retry": false], results: [])
            } else {
                let result: JSONValue = [
                    "resource": "aisles", "id": 300, "status": "merged", "ids": [id.key.string: 300],
                    "record": ["id": 300, "aisle": ["name": "Oils"]], "outcomes": [],
                ]
                try ledger.settle(push, results: [result], rules: "r1")
            }
            let after = steps(ledger.db)
            #expect(try ledger.counts().refused == (isRefused ? 2 : 0))
            #expect(try ledger.view("shoppers", 123)?["groceries"]?[0]["aisle"] == (isRefused ? 5 : 300))
            return after - before
        }.0
    }

    @Test("The cost of an answer does not grow with the queue", arguments: [false, true])
    func anAnswer(isRefused: Bool) async throws {
        let (few, many) = (
            try await Self.cost(others: 2, isRefused: isRefused), try await Self.cost(others: 100, isRefused: isRefused)
        )
        #expect(few > 0)
        // The order of random ids in an index may cost some steps.
        #expect(many < few + 20)
    }
}
