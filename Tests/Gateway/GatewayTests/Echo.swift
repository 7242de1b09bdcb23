import Testing
import TestSupport

/// Reads every record that a gateway serves and sends it back unchanged.
enum Echo {
    /// - Returns: how many records there were.
    static func sendBackEverything(_ gateway: RunningGateway) async throws -> Int {
        try await gateway.client { client async throws in
            let rules = try await client.get("/v1/rules").json()
            var seen = 0
            for resource in rules["resources"]?.array ?? [] {
                let name = resource["resource"]?.text ?? ""
                // A section without a key cannot be sent back.
                if resource["sections"]?[0]?["key"]?.array.isEmpty != false { continue }
                var next: String? = ""
                while let after = next {
                    let answer = try await client.get(
                        "/v1/records/\(name)?limit=100" + (after.isEmpty ? "" : "&after=" + after))
                    #expect(answer.status == 200, "\(name): \(answer.text)")
                    let page = try answer.json()
                    next = page["next"]?.text
                    let records = page["records"]?.array ?? []
                    try await sendBack(records, resource, client)
                    seen += records.count
                }
            }
            return seen
        }
    }

    private static func sendBack(_ records: [JSON], _ resource: JSON, _ client: HTTPClient.Session) async throws {
        let edits = records.map { edit($0, resource) }
        let answer = try await client.post("/v1/push", "{\"edits\":[\(edits.joined(separator: ","))]}")
        #expect(answer.status == 200, "\(answer.text.prefix(2_000))")
        let results = try answer.json()["results"]?.array ?? []
        #expect(results.count == records.count)
        for (result, record) in zip(results, records) {
            #expect(result["outcomes"]?.array.isEmpty == true, "\(result)")
            #expect(result["record"] == record, "\(result)")
        }
    }

    /// An edit in row form whose new values are the old ones.
    private static func edit(_ record: JSON, _ resource: JSON) -> String {
        var parts: [String] = []
        for section in resource["sections"]?.array ?? [] {
            let name = section["section"]?.text ?? ""
            guard let content = record[name], !content.isNull, section["groups"]?.array.isEmpty == false else {
                continue
            }
            if section["kind"]?.text == "list" {
                let items = content.array.map { item -> String in
                    let fields = item.object.filter { $0.key != "id" }
                    let row = "{" + fields.map { "\(quoted($0.key)):\($0.value)" }.joined(separator: ",") + "}"
                    return "{\"id\":\(item["id"]?.description ?? "null"),\"old\":\(row),\"new\":\(row)}"
                }
                parts.append("\(quoted(name)):[\(items.joined(separator: ","))]")
            } else {
                parts.append("\(quoted(name)):{\"old\":\(content),\"new\":\(content)}")
            }
        }
        return
            "{\"resource\":\(resource["resource"]?.description ?? ""),\"id\":\(record["id"]?.description ?? "null"),\"changeset\":{\(parts.joined(separator: ","))}}"
    }

    static func quoted(_ text: String) -> String { JSON(text: text).description }
}
