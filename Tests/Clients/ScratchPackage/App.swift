import FieldMergeClient
import FieldMergeTesting
import Foundation

/// An app that uses the package by its products alone.
@main
struct App {
    static func main() async throws {
        let rules: JSONValue = [
            "version": "r1",
            "resources": [
                [
                    "resource": "shoppers",
                    "sections": [
                        [
                            "section": "customer", "kind": "root",
                            "key": [["column": "id", "type": "integer", "generated": true]],
                            "groups": [
                                [
                                    "group": "firstName", "onConflict": "client-wins",
                                    "fields": [["field": "firstName", "type": "text", "nullable": false]],
                                ]
                            ],
                        ]
                    ],
                ]
            ],
        ]
        let shoppers: [JSONValue] = [["id": 123, "customer": ["firstName": "Joe"]]]
        guard let gateway = MemoryGateway(rules: rules, records: ["shoppers": shoppers]) else {
            throw Failure(description: "the rules cannot be read")
        }
        let store = try await memoryStore(gateway)
        guard try await store.sync().isOK else { throw Failure(description: "the first sync failed") }
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        try await store.sync()
        let outcome = await ticket.outcome
        let name = gateway.record("shoppers", 123)?["customer"]["firstName"]
        guard outcome.status == .merged, name == "Bob" else { throw Failure(description: "\(outcome.status)") }
        await store.close()
        print("the edit was \(outcome.status.rawValue)")
    }
}

/// Something that did not work.
struct Failure: Error, CustomStringConvertible {
    let description: String
}
