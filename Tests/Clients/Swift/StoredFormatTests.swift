import FieldMergeTesting
import Foundation
import GRDB
import Testing

@testable import FieldMergeClient

/// Stores of earlier versions, one for each format: `Stores/format-N.sql` is the output of `sqlite3 FILE .dump`.
///
/// The client for Python, whose tables are the same, made the store of format 1. It contains a record that was created
/// with a temporary id, a refused edit, an edit without an answer, and one that was not sent.
@Suite(.timeLimit(.minutes(1))) struct StoredFormatTests {
    @Test("Stores of each format are read completely", arguments: 1...StoreSchema.format)
    func upgrade(format: Int) async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let dump = SharedCases.folder.deletingLastPathComponent()
            .appendingPathComponent("Swift/Stores/format-\(format).sql")
        let sql = try String(contentsOf: dump, encoding: .utf8)
        try await DatabaseQueue(path: url.path).writeWithoutTransaction { db in try db.execute(sql: sql) }

        let gateway = try StoreTests.gateway()
        gateway.put(["id": 1001, "aisle": ["name": "Oils"]], in: "aisles", id: 1_001)
        let store = try await memoryStore(gateway, at: url)
        let status = await store.status
        #expect(status.unsent == 2 && status.refused == 1 && status.revision == 3)
        let record = try #require(try await store.record("shoppers", 123))
        #expect(record["customer", "firstName"] == "Bob")
        #expect(record["customer", "lastName"] == "Hill")
        #expect(record["groceries"][2]["aisle"] == 1001)
        #expect(try await store.state("shoppers", 123, "customer", "firstName") == .sending)
        #expect(try await store.state("shoppers", 123, "customer", "lastName") == .draft)
        let made = "tmp:821b80ad-5da0-404c-80cd-56862c8ec192"
        #expect(try await store.record("aisles", made)?["aisle", "name"] == "Oils")
        let refused = try #require(try await store.refusedEdits().first)
        #expect(refused.id == 124 && refused.problem["code"] == "rejected")
        let keys = try await store.file.read { ledger in try ledger.rows("SELECT key FROM push WHERE state = 1").count }
        #expect(keys == 1)
        let users = try await store.file.read { try $0.pushes(using: "tmp:af84d6d0-f39b-4b22-ba41-a674d7561a83") }
        #expect(users == [4])

        #expect(try await store.sync().isOK)
        let sent = try #require(try await store.ticket("6542623f-dbac-47b3-a7fa-1f993191ffc1"))
        #expect(await sent.outcome.status == .merged)
        let draft = try #require(try await store.ticket("6aa8efb3-c8bb-4b7f-8353-cd2bb35409d9"))
        #expect(await draft.outcome.status == .merged)
        #expect(gateway.record("shoppers", 123)?["customer"]["lastName"] == "Hill")
        #expect(gateway.record("shoppers", 123)?["groceries"][2]["aisle"] == 1001)
        let created = try await store.file.read { try $0.text("SELECT item FROM created_row") }
        #expect(created == "tmp:af84d6d0-f39b-4b22-ba41-a674d7561a83")
        #expect(try await refused.discard())
        #expect(await store.status.refused == 0)
        await store.close()
    }

    @Test("A later format is refused")
    func laterFormat() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let store = try await StoreTests.synced(StoreTests.gateway(), at: url)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        await store.close()
        try await DatabaseQueue(path: url.path).write { db in
            try db.execute(sql: "UPDATE meta SET value = '2' WHERE name = 'format'")
        }
        let error = await #expect(throws: FieldMergeError.self) {
            try await memoryStore(StoreTests.gateway(), at: url)
        }
        #expect(error?.code == "newer-store")
        try FieldMergeStore.exportStore(at: url, to: folder.file("all.ndjson"))
        let lines = try String(contentsOf: folder.file("all.ndjson"), encoding: .utf8).split(separator: "\n")
        let rows = lines.compactMap { JSONValue(text: String($0)) }
        #expect(rows.count == lines.count)
        #expect(rows.contains { $0["table"] == "edit" && $0["row"]["changes"].stringValue?.contains("Bob") == true })
        #expect(rows.filter { $0["table"] == "base" }.count == 3)
        let other = folder.file("other.db")
        try await DatabaseQueue(path: other.path).write { db in try db.execute(sql: "CREATE TABLE notes (text TEXT)") }
        await #expect(throws: FieldMergeError.self) { try await memoryStore(StoreTests.gateway(), at: other) }
    }
}
