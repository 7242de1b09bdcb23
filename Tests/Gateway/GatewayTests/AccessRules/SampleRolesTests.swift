import Testing
import TestSupport

/// The sample's rules for two roles.
@Suite(.timeLimit(.minutes(5))) struct SampleRolesTests {
    @Test("A driver and an office read and write by the sample rules", arguments: TestEngine.allCases)
    func sampleRoles(_ kind: TestEngine) async throws {
        let driver = Rounds.Client("van-3", ["driver"], claims: #"{"customers": [111, 155]}"#)
        let office = Rounds.Client("desk", ["office"])
        var rules: [String: String] = [:]
        for name in ["orders.yaml", "shoppers.yaml"] { rules[name] = try Repository.text("Samples/roles/" + name) }
        let database = try await TestDatabase.shop(kind)
        try await database.run(
            """
            INSERT INTO orders (order_no, customer_id, placed, status, total) VALUES
                ('Z-1', 111, '2026-01-01 10:00:00', 'new', 5), ('Z-2', 158, '2026-01-01 10:00:00', 'new', 5);
            """)
        try await RunningGateway.with(
            database, rules: rules, tokens: [driver, office].map(\.line).joined(separator: "\n"), journal: .together
        ) { gateway in
            let own = try await gateway.get("/v1/records/orders/Z-1", as: driver)
            #expect(own.status == 200 && !own.text.contains("total"), "\(own.text)")
            #expect(try await gateway.get("/v1/records/orders/Z-2", as: driver).status == 404)
            #expect(try await gateway.get("/v1/records/orders/Z-2", as: office).text.contains("total"))
            let door = try await gateway.get("/v1/records/shoppers/111", as: driver)
            #expect(door.text.contains("street") && !door.text.contains("balance"), "\(door.text)")
            func step(_ old: String, _ new: String) async throws -> String? {
                let answer = try await gateway.post(
                    "/v1/merge/orders",
                    #"{"id": "Z-1", "changeset": {"order": {"status": {"old": "\#(old)", "new": "\#(new)"}}}}"#,
                    as: driver)
                return try answer.json()["outcomes"]?[0]?["outcome"]?.text
            }
            #expect(try await step("new", "sent") == "server-won")
            #expect(try await step("new", "cancelled") == "applied")
            #expect(try await step("cancelled", "new") == "server-won")
        }
    }
}
