import Testing
import TestSupport

/// The sample shop and its rule files, on both engines.
@Suite struct ShopTests {
    @Test(arguments: TestEngine.allCases) func everyRuleFileIsServed(_ kind: TestEngine) async throws {
        try await RunningGateway.with(try await TestDatabase.shop(kind)) { gateway async throws in
            try await gateway.client { client async throws in
                let rules = try await client.get("/v1/rules").json()
                #expect(
                    rules["resources"]?.array.compactMap { $0["resource"]?.text }.sorted() == [
                        "aisles", "orders", "shoppers",
                    ])
                #expect(try await client.get("/readyz").status == 200)
                let joe = try await client.get("/v1/records/shoppers/123").json()
                #expect(joe["customer"]?["firstName"]?.text == "Joe")
                #expect(joe["groceries"]?.array.count == 2)
            }
        }
    }

    /// Whatever the tables hold, reading it and sending it back as it is writes nothing.
    @Test(arguments: TestEngine.allCases) func sendingBackWhatWasReadWritesNothing(_ kind: TestEngine) async throws {
        let database = try await TestDatabase.shop(kind)
        let tables = ["customers", "groceries", "aisles", "orders", "order_lines", "customers_log"]
        let dump = {
            var rows: [String] = []
            for table in tables { rows.append(try await database.run("SELECT * FROM \(table) ORDER BY 1, 2;")) }
            return rows
        }
        let before = try await dump()
        try await RunningGateway.with(database) { gateway async throws in
            try await gateway.client { client async throws in
                let rules = try await client.get("/v1/rules").json()
                var seen = 0
                for resource in rules["resources"]?.array ?? [] {
                    let name = resource["resource"]?.text ?? ""
                    var next: String? = ""
                    while let after = next {
                        let page = try await client.get(
                            "/v1/records/\(name)?limit=40" + (after.isEmpty ? "" : "&after=" + after)
                        ).json()
                        next = page["next"]?.text
                        for record in page["records"]?.array ?? [] {
                            let body = Self.echo(record, resource)
                            let answer = try await client.post("/v1/merge/\(name)", body)
                            #expect(answer.status == 200, "\(body) \(answer.text)")
                            #expect(try answer.json()["outcomes"]?.array.isEmpty == true)
                            seen += 1
                        }
                    }
                }
                #expect(seen > 150)
            }
        }
        #expect(try await dump() == before)
    }

    /// An edit in row form whose new values are the old ones.
    private static func echo(_ record: JSON, _ resource: JSON) -> String {
        var parts: [String] = []
        for section in resource["sections"]?.array ?? [] {
            let name = section["section"]?.text ?? ""
            guard let content = record[name], !content.isNull else { continue }
            if section["kind"]?.text == "list" {
                let items = content.array.map { item -> String in
                    let fields =
                        "{"
                        + item.object.filter { $0.key != "id" }.map { "\"\($0.key)\":\($0.value)" }.joined(
                            separator: ",") + "}"
                    return
                        "{\"id\":\(item["id"]?.description ?? "null"),\"old\":\(escaped(fields)),\"new\":\(escaped(fields))}"
                }
                parts.append("\"\(name)\":[\(items.joined(separator: ","))]")
            } else {
                parts.append("\"\(name)\":{\"old\":\(escaped("\(content)")),\"new\":\(escaped("\(content)"))}")
            }
        }
        return "{\"id\":\(record["id"]?.description ?? "null"),\"changeset\":{\(parts.joined(separator: ","))}}"
    }

    /// `JSON` prints strings without escapes; the shop's only awkward character is the newline in a note.
    private static func escaped(_ text: String) -> String { text.replacing("\n", with: "\\n") }

    @Test(arguments: TestEngine.allCases) func theDemoRuns(_ kind: TestEngine) async throws {
        try await RunningGateway.with(try await TestDatabase.shop(kind)) { gateway async throws in
            let demo = try await Shell.capture([
                "python3", "-B", Repository.root + "Samples/demo/demo.py", "--url", "http://127.0.0.1:\(gateway.port)",
            ])
            #expect(demo.status == 0, "\(demo.output)\(demo.errors)")
            #expect(demo.output.contains("client-won"))
            #expect(!demo.output.contains("\u{1B}["), "colour belongs to a terminal")
        }
    }
}
