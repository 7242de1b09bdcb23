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

        await store.close()
    }
}
