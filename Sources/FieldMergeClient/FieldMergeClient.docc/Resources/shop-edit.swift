import FieldMergeClient
import Foundation

@main
struct Shop {
    static func main() async throws {
        guard let server = URL(string: "http://127.0.0.1:8080") else { return }
        let store = try await FieldMergeStore.open(
            at: URL(fileURLWithPath: "shop.db"), server: server, user: "anna", resources: ["shoppers"],
            client: "shop/1.0"
        ) { "none" }

        let report = try await store.sync()
        print("\(report.phase), \(report.changes) changes")
        for shopper in try await store.records("shoppers") {
            print(shopper.id, shopper["customer", "firstName"], shopper["groceries"].count)
        }

        let ticket = try await store.edit("shoppers", 123) {
            $0["customer", "address"] = ["street": "2 High St"]
            $0["groceries"].append(["name": "Rice", "quantity": "1 kg"])
        }
        let shopper = try await store.record("shoppers", 123)
        print(shopper?["customer", "address"] ?? .null)
        print("\(await store.status.unsent) unsent")

        await store.close()
    }
}
