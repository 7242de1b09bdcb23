import Testing
import TestSupport

/// Only the names and types that a client sees change the shape of a resource.
@Suite struct ShapeTests {
    private static let schema =
        "CREATE TABLE goods (id INTEGER PRIMARY KEY, name VARCHAR(20), price INTEGER, weight REAL, changed VARCHAR(20));"

    private static func rules(_ groups: String, _ rest: String = "") -> String {
        "resource: goods\nsections:\n  good: {table: goods, groups: {\(groups)}\(rest)}\n"
    }

    private static let plain = rules("name: name, price: price")

    private static func shape(_ rules: String, schema: String = schema) async throws -> String? {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: schema)
        return try await RunningGateway.with(database, rules: ["goods.yaml": rules]) { gateway async throws in
            try await gateway.client { client async throws in
                try await client.get("/v1/rules").json()["resources"]?[0]?["shape"]?.text
            }
        }
    }

    @Test("Policies and lengths keep the shape")
    func same() async throws {
        let shape = try #require(try await Self.shape(Self.plain))
        #expect(try await Self.shape(Self.rules("name: name, price: {column: price, merge: add}")) == shape)
        #expect(try await Self.shape(Self.rules("name: name, price: price", ", on-conflict: reject")) == shape)
        let longer = Self.schema.replacing("name VARCHAR(20)", with: "name VARCHAR(90)")
        #expect(try await Self.shape(Self.plain, schema: longer) == shape)
    }

    @Test(
        "Names, types, fields and groups change the shape",
        arguments: [
            rules("title: name, price: price"), rules("name: name"), rules("name: name, price: price, weight: weight"),
            rules("name: name, price: {column: price, type: boolean}"),
            rules("both: {fields: {name: name, price: price}}"),
            rules("name: name, price: price", ", read-only: {changed: changed}"),
        ])
    func other(rules: String) async throws {
        let shape = try #require(try await Self.shape(Self.plain))
        let other = try #require(try await Self.shape(rules))
        #expect(other != shape)
    }
}
