import Testing
import TestSupport

/// Each rule of the sample shop agrees with its comment, on both engines.
@Suite struct ShopRulesTests {
    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.shop(kind)
        try await RunningGateway.with(database) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    /// Merges the changes of one section of a record.
    private static func merge(
        _ client: HTTPClient.Session, _ resource: String, _ id: String, _ section: String, _ change: String,
        status: Int = 200, at location: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let answer = try await client.post(
            "/v1/merge/\(resource)", #"{"id":\#(id),"changeset":{"\#(section)":\#(change)}}"#)
        #expect(answer.status == status, "\(answer.text)", sourceLocation: location)
        return try answer.json()
    }

    @Test(arguments: TestEngine.allCases) func countsAddUp(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let edit = { change in try await Self.merge(client, "articles", "1", "article", change) }
            let first = try await edit(#"{"stock":{"old":48,"new":45}}"#)
            #expect(first["outcomes"]?[0]?["outcome"]?.text == "applied")
            let second = try await edit(#"{"stock":{"old":48,"new":58}}"#)
            #expect(second["outcomes"]?[0]?["outcome"]?.text == "combined")
            #expect(second["outcomes"]?[0]?["rule"]?.text?.hasPrefix("articles.yaml:") == true)
            #expect(second["record"]?["article"]?["stock"]?.int == 55)
        }
    }

    @Test("Functions max, min and latest", arguments: TestEngine.allCases)
    func maxMinLatest(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run(
                "UPDATE articles SET counted_at = '2025-12-02 09:00:00', best_before = '2026-09-30', price = 0.99, "
                    + "priced_at = '2025-12-02 09:00:00' WHERE article_id = 1;")
            let answer = try await Self.merge(
                client, "articles", "1", "article",
                #"{"counted":{"old":"2025-12-01T07:00:00","new":"2025-12-01T18:00:00"},"#
                    + #""bestBefore":{"old":"2026-10-31","new":"2026-08-31"},"#
                    + #""pricing":{"old":{"price":"0.95","pricedAt":"2025-01-01T08:00:00"},"#
                    + #""new":{"price":"0.90","pricedAt":"2025-12-01T18:00:00"}}}"#)
            #expect(answer["outcomes"]?.array.map { $0["outcome"]?.text } == ["combined", "combined", "server-won"])
            let article = answer["record"]?["article"]
            #expect(article?["counted"]?.text == "2025-12-02T09:00:00")
            #expect(article?["bestBefore"]?.text == "2026-08-31")
            #expect(article?["price"]?.text == "0.99")
        }
    }

    @Test("Two scanners that create an article with one barcode create it once", arguments: TestEngine.allCases)
    func barcode(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            let answer = try await Self.merge(
                client, "articles", #""tmp:a""#, "article",
                #"{"old":null,"new":{"barcode":"2000000000022","name":"Black tea","stock":5}}"#)
            #expect(answer["id"]?.int == 2)
            #expect(answer["ids"] == (try JSON(#"{"tmp:a":2}"#)))
            #expect(answer["outcomes"]?.array.map { $0["outcome"]?.text } == ["already", "server-won", "server-won"])
            // Without a base `add` cannot run, and the answer reports this.
            #expect(answer["outcomes"]?[2]?["fallback"]?.text?.hasPrefix("merge: add did not run") == true)
            #expect(answer["record"]?["article"]?["stock"]?.int == 30)
        }
    }

    @Test("Sets, texts and JSON are merged", arguments: TestEngine.allCases)
    func setsTextsJSON(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            let edit = { change in try await Self.merge(client, "shoppers", "123", "customer", change) }
            let notes = #"{"old":"Ring twice.\nThe bell is weak.","new":"#
            let settings =
                #"{"old":{"delivery":{"door":"front","call":true},"substitutes":["Beans","Tea"]},"new":"#
            _ = try await edit(
                #"{"tags":{"old":["regular","dog"],"new":["regular","trade"]},"notes":\#(notes)"Ring thrice.\nThe bell is weak.\nMind the step."},"#
                    + #""settings":\#(settings){"delivery":{"door":"back","call":true},"substitutes":[]}}}"#)
            let answer = try await edit(
                #"{"tags":{"old":["regular","dog"],"new":["late","regular","dog"]},"notes":\#(notes)"Ring once.\nThe bell is broken."},"#
                    + #""settings":\#(settings){"delivery":{"door":"front"},"substitutes":["Beans"],"bags":"own"}}}"#)
            let outcomes = answer["outcomes"]?.array ?? []
            #expect(outcomes.map { $0["outcome"]?.text } == ["combined", "combined", "combined"])
            #expect(outcomes.allSatisfy { $0["rule"]?.text?.hasPrefix("shoppers.yaml:") == true })
            #expect(Set(outcomes.compactMap { $0["rule"]?.text }).count == 3, "each group has a line of its own")
            let customer = answer["record"]?["customer"]
            #expect(customer?["tags"] == (try JSON(#"["regular","trade","late"]"#)))
            #expect(customer?["notes"]?.text == "Ring once.\nThe bell is broken.\nMind the step.")
            #expect(
                customer?["settings"]
                    == (try JSON(#"{"delivery":{"door":"back"},"substitutes":["Beans"],"bags":"own"}"#)))
            // If both changed the same part, the answer names its position.
            #expect(
                outcomes[1]["parts"]
                    == (try JSON(
                        #"[{"line":1,"outcome":"client-won","old":"twice","current":"thrice","new":"once","written":"once"}]"#
                    )))
            #expect(
                outcomes[2]["parts"]
                    == (try JSON(
                        #"[{"path":"/substitutes","outcome":"client-won","old":["Beans","Tea"],"current":[],"new":["Beans"],"written":["Beans"]}]"#
                    )))
        }
    }

    @Test("A customer who left is missing", arguments: TestEngine.allCases)
    func softDeletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            #expect(try await client.get("/v1/records/shoppers/117").status == 404)
            let page = try await client.get("/v1/records/shoppers?limit=1&after=116").json()
            #expect(page["records"]?[0]?["id"]?.int == 119)
            let change =
                #"{"old":null,"new":{"firstName":"D","lastName":"V","street":"S","postCode":"P","email":"doris.vane@example.com"}}"#
            let taken = try await Self.merge(
                client, "shoppers", #""tmp:d""#, "customer", change, status: 422)
            #expect(taken["problem"]?["code"]?.text == "unique")
            #expect(taken["problem"]?["fields"] == (try JSON(#"["email"]"#)))
            #expect(taken["problem"]?["record"] == nil)

            let gone = try await Self.merge(client, "shoppers", "123", "customer", #"{"old":{},"new":null}"#)
            #expect(gone["record"]?.isNull == true)
            #expect(gone["outcomes"]?.array.map { $0["outcome"]?.text } == ["deleted"])
            #expect(gone["outcomes"]?[0]?["rule"]?.text?.hasPrefix("shoppers.yaml:") == true)
            #expect(try await client.get("/v1/records/shoppers/123").status == 404)
            let left = "SELECT count(*) FROM customers WHERE customer_id = 123 AND closed_on IS NOT NULL;"
            #expect(try await database.run(left) == "1\n")
            #expect(try await database.run("SELECT count(*) FROM groceries WHERE customer_id = 123;") == "2\n")
            let late = try await Self.merge(
                client, "shoppers", "123", "customer", #"{"firstName":{"old":"Joe","new":"Bob"}}"#)
            #expect(late["outcomes"]?[0]?["outcome"]?.text == "missing")
        }
    }

    @Test("One e-mail address is one customer", arguments: TestEngine.allCases)
    func email(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/push",
                #"{"edits":[{"resource":"orders","id":"A-2000","changeset":{"order":{"old":null,"new":{"customer":"tmp:joe","placed":"2026-01-05T09:00:00"}}}},"#
                    + #"{"resource":"shoppers","id":"tmp:joe","changeset":{"customer":{"old":null,"new":{"firstName":"Joe","lastName":"Shaw","email":"joe.shaw@example.com","phone":"07700 900000"}},"#
                    + #""groceries":[{"id":"tmp:rice","old":null,"new":{"name":"Rice"}}]}}]}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let results = try answer.json()["results"]
            #expect(results?[1]?["id"]?.int == 123)
            #expect(results?[1]?["ids"]?["tmp:joe"]?.int == 123)
            #expect(results?[1]?["record"]?["customer"]?["phone"]?.text == "07700 900000")
            #expect(results?[1]?["record"]?["groceries"]?.array.count == 3)
            #expect(results?[0]?["record"]?["order"]?["customer"]?.int == 123)
            #expect(try await database.run("SELECT count(*) FROM customers WHERE last_name = 'Shaw';") == "1\n")
        }
    }

    /// Each end fits alone.
    ///
    /// The second edit would make an invalid period.
    @Test("A period that would end before it starts is refused", arguments: TestEngine.allCases)
    func period(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let end = #"{"until":{"old":"2025-10-24T13:00:00","new":"2025-10-24T10:00:00"}}"#
            _ = try await Self.merge(client, "orders", #""A-1083""#, "delivery", end)
            let start = #"{"from":{"old":"2025-10-24T09:00:00","new":"2025-10-24T11:00:00"}}"#
            let refused = try await Self.merge(client, "orders", #""A-1083""#, "delivery", start, status: 422)
            #expect(refused["status"]?.text == "failed")
            let problem = refused["problem"]
            #expect(problem?["code"]?.text == "check")
            #expect(problem?["constraint"]?.text == "delivery-period")
            #expect(problem?["fields"] == (try JSON(#"["from","until"]"#)))
            #expect(problem?["retry"]?.bool == false)
            #expect(refused["record"]?["delivery"]?["from"]?.text == "2025-10-24T09:00:00")
            // A period with one end is valid.
            let open =
                #"{"from":{"old":null,"new":"2025-05-09T09:00:00"},"until":{"old":"2025-05-09T17:00:00","new":null}}"#
            _ = try await Self.merge(client, "orders", #""A-1082""#, "delivery", open)
            #expect(
                try await database.run("SELECT count(*) FROM deliveries WHERE deliver_until IS NULL;") == "1\n")
        }
    }

    @Test("A deleted delivery is restored", arguments: TestEngine.allCases)
    func restored(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("DELETE FROM deliveries WHERE order_no = 'A-1080';")
            let answer = try await Self.merge(
                client, "orders", #""A-1080""#, "delivery", #"{"place":{"old":"In the porch","new":"In the shed"}}"#)
            #expect(answer["outcomes"]?[0]?["outcome"]?.text == "restored")
            #expect(answer["outcomes"]?[0]?["conflict"]?.bool == true)
            #expect(
                answer["record"]?["delivery"] == (try JSON(#"{"from":null,"until":null,"place":"In the shed"}"#)))
        }
    }

    /// The check restores only fields that the client changed.
    @Test("A debt over the credit limit is reverted", arguments: TestEngine.allCases)
    func creditLimit(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            let answer = try await Self.merge(
                client, "shoppers", "123", "customer",
                #"{"firstName":{"old":"Joe","new":"Bob"},"balance":{"old":"-12.50","new":"-60.00"}}"#)
            #expect(answer["outcomes"]?[0]?["outcome"]?.text == "applied")
            let balance = answer["outcomes"]?[1]
            #expect(balance?["outcome"]?.text == "server-won")
            #expect(balance?["conflict"]?.bool == true)
            #expect(balance?["new"]?.text == "-60.00")
            #expect(balance?["written"]?.text == "-12.50")
            #expect(answer["record"]?["customer"]?["firstName"]?.text == "Bob")
            #expect(answer["record"]?["customer"]?["balance"]?.text == "-12.50")
            let rules = try await client.get("/v1/rules").json()["resources"]?.array
            let customer = rules?.first { $0["resource"]?.text == "shoppers" }?["sections"]?[0]
            #expect(
                customer?["checks"]
                    == (try JSON(
                        #"[{"check":"credit","fields":["balance","creditLimit"],"onFailure":"server-wins"}]"#)))
            #expect(customer?["identity"] == (try JSON(#"["email"]"#)))
            #expect(customer?["softDelete"]?.bool == true)
        }
    }
}
