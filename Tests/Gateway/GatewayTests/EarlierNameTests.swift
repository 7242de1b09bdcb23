import Testing
import TestSupport

@testable import Gateway

/// Pushes that use names of earlier rules, on both engines.
@Suite struct EarlierNameTests {
    private static let rules = MergeTests.rules.mapValues {
        $0.replacing("name: name", with: "name: {column: name, formerly: [fullName]}")
            .replacing(
                "address: {fields: {street: street, town: town}}",
                with: "address: {formerly: place, fields: {street: {column: street, formerly: [road]}, town: town}}")
    }

    private static func push(_ key: String, rules: String?, _ person: String) -> String {
        let version = rules.map { #""rules": "\#($0)", "# } ?? ""
        return """
            {"key": "\(key)", \(version)"edits": [{"resource": "people", "id": 1, "changeset": {"person": \(person)}}]}
            """
    }

    @Test("Earlier names are accepted", arguments: TestEngine.allCases)
    func accepted(_ engine: TestEngine) async throws {
        try await Self.with(engine) { client async throws in
            let rules = try await client.get("/v1/rules").json()
            let groups = rules["resources"]?[0]?["sections"]?[0]?["groups"]
            #expect(groups?[0]?["formerly"]?.description == #"["fullName"]"#)
            #expect(groups?[0]?["fields"]?[0]?["formerly"]?.description == #"["fullName"]"#)

            let name = #"{"fullName": {"old": "Ann", "new": "Eve"}}"#
            #expect(try await client.post("/v1/push", Self.push("k1", rules: "earlier", name)).status == 200)
            let place = """
                {"place": {"old": {"road": "High St", "town": "Kent"}, "new": {"road": "Mill Ln", "town": "Kent"}}}
                """
            let answer = try await client.post("/v1/push", Self.push("k2", rules: "earlier", place))
            #expect(answer.status == 200)
            let result = try answer.json()["results"]?[0]
            #expect(result?["outcomes"]?[0]?["group"]?.text == "address", "an answer has the present names")
            #expect(result?["record"]?["person"]?["street"]?.text == "Mill Ln")
            let row = #"{"old": {"fullName": "Eve"}, "new": {"fullName": "Zoe"}}"#
            #expect(try await client.post("/v1/push", Self.push("k3", rules: nil, row)).status == 200)
            #expect(try await client.get("/v1/records/people/1").json()["person"]?["name"]?.text == "Zoe")
        }
    }

    @Test("Other earlier rules are refused")
    func otherRules() async throws {
        try await Self.with(.sqlite) { client async throws in
            let present = #"{"name": {"old": "Ann", "new": "Eve"}}"#
            let answer = try await client.post("/v1/push", Self.push("k1", rules: "earlier", present))
            #expect(answer.status == 409)
            #expect(try answer.json()["code"]?.text == "rules-changed")
        }
    }

    @Test(
        "A name together with its earlier name is refused",
        arguments: [
            #"{"name": {"old": "Ann", "new": "Eve"}, "fullName": {"old": "Ann", "new": "Zoe"}}"#,
            #"{"address": {"old": {"street": "High St", "road": "High St"}, "new": {"street": "a", "road": "b"}}}"#,
            #"{"old": {"name": "Ann", "fullName": "Ann"}, "new": {"name": "Eve", "fullName": "Zoe"}}"#,
        ])
    func bothNames(_ person: String) async throws {
        try await Self.with(.sqlite) { client async throws in
            let answer = try await client.post("/v1/push", Self.push("k1", rules: nil, person))
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try await client.get("/v1/records/people/1").json()["person"]?["name"]?.text == "Ann")
        }
    }

    private static func with(
        _ engine: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(engine, mariadb: MergeTests.mariadb, sqlite: MergeTests.sqlite)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { try await body($0) }
        }
    }
}
