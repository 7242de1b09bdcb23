import MergeCore
import Testing
import TestSupport

/// The description at `/openapi.json` knows what the gateway answers.
@Suite struct OpenAPITests {
    /// Every member of a section that any recorded `/v1/rules` shows is described.
    @Test func everyMemberOfASectionIsDescribed() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let description = try await RunningGateway.with(database, rules: MergeTests.rules) { gateway async throws in
            try await gateway.client { try await $0.get("/openapi.json").json() }
        }
        let section = description["components"]?["schemas"]?["Section"]?["properties"]
        let described = Set(try #require(section).object.keys)
        var shown: Set<String> = []
        for chapter in Chapter.all {
            let exchanges = try ExchangeReader.read(chapter.path, engines: chapter.engines)
            guard let answer = exchanges.first?.answers.values.first, exchanges.first?.request.label == "rules" else {
                continue
            }
            for resource in try JSON(answer.body.string)["resources"]?.array ?? [] {
                for section in resource["sections"]?.array ?? [] { shown.formUnion(section.object.keys) }
            }
        }
        #expect(shown.contains("clientKeys"))
        #expect(shown.subtracting(described).isEmpty)
    }
}
