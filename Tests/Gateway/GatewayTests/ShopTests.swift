import Testing
import TestSupport

/// The sample shop and its rule files, on both engines.
@Suite struct ShopTests {
    @Test("Each rule file is served", arguments: TestEngine.allCases)
    func ruleFiles(_ kind: TestEngine) async throws {
        try await RunningGateway.with(try await TestDatabase.shop(kind)) { gateway async throws in
            try await gateway.client { client async throws in
                let rules = try await client.get("/v1/rules").json()
                #expect(
                    rules["resources"]?.array.compactMap { $0["resource"]?.text }.sorted() == [
                        "aisles", "articles", "orders", "shoppers",
                    ])
                #expect(try await client.get("/readyz").status == 200)
                let joe = try await client.get("/v1/records/shoppers/123").json()
                #expect(joe["customer"]?["firstName"]?.text == "Joe")
                #expect(joe["groceries"]?.array.count == 2)
            }
        }
    }

    @Test("An unchanged record writes nothing", arguments: TestEngine.allCases)
    func unchanged(_ kind: TestEngine) async throws {
        let database = try await TestDatabase.shop(kind)
        let tables = [
            "customers", "groceries", "aisles", "articles", "orders", "order_lines", "deliveries", "customers_log",
        ]
        let dump = {
            var rows: [String] = []
            for table in tables { rows.append(try await database.run("SELECT * FROM \(table) ORDER BY 1, 2;")) }
            return rows
        }
        let before = try await dump()
        try await RunningGateway.with(database) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) > 150)
        }
        #expect(try await dump() == before)
    }

    @Test("The demo runs", arguments: TestEngine.allCases)
    func demo(_ kind: TestEngine) async throws {
        let database = try await TestDatabase.shop(kind)
        try await RunningGateway.with(database, journal: .together, configure: ScanFixture.configure) {
            gateway async throws in
            try await gateway.client { client async throws in try await client.hasScanned() }
            let demo = try await Shell.capture(
                [
                    "python3", "-B", Repository.root + "Samples/demo/demo.py", "--url",
                    "http://127.0.0.1:\(gateway.port)",
                ] + (kind == .sqlite ? ["--till", database.name] : []))
            #expect(demo.status == 0, "\(demo.output)\(demo.errors)")
            #expect(demo.output.contains("the old till") == (kind == .sqlite))
            #expect(demo.output.contains("client-won"))
            #expect(demo.output.contains("combined (a conflict, by articles.yaml:"))
            #expect(demo.output.contains("The till, the van and the database hold the same"))
            #expect(!demo.output.contains("\u{1B}["), "colour belongs to a terminal")
        }
    }
}
