import Testing
import TestSupport

/// Every value that the wire accepts is written and found again, in columns of every type.
@Suite(.timeLimit(.minutes(5))) struct ValueTripTests {
    private static let rows = 4
    private static let rounds = 3

    /// What the database user may do: with the right to see triggers, what was written is compared with what is read.
    enum Rights: String, CaseIterable, Sendable {
        case few = "SELECT, INSERT, UPDATE, DELETE"
        case withTriggers = "SELECT, INSERT, UPDATE, DELETE, TRIGGER"

        var user: String { self == .few ? "values_few" : "values_triggers" }
    }

    @Test(arguments: Rights.allCases, 0..<6) func mariaDB(_ rights: Rights, seed: Int) async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Museum.schema, sqlite: "")
        try await database.run("INSERT INTO museum (id) VALUES (3), (4);")
        let user = try await Self.user(rights, of: database)
        let declarations = Dictionary(
            Museum.exhibits.enumerated().map { (Museum.group($0), $1.declaration + ($1.rule ?? "")) },
            uniquingKeysWith: { $1 })
        try await RunningGateway.with(user, rules: Museum.rules) { gateway async throws in
            try await Self.travel(gateway, "museum", "exhibit", declarations, seed)
        }
    }

    @Test(arguments: 0..<8) func sqlite(_ seed: Int) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: SQLiteMuseumTests.schema)
        try await database.run("INSERT INTO museum (id) VALUES (3), (4);")
        let declarations = Dictionary(
            SQLiteMuseumTests.exhibits.map { ($0.name, $0.declaration + ($0.rule ?? "")) }, uniquingKeysWith: { $1 })
        try await RunningGateway.with(
            database, rules: SQLiteMuseumTests.rules, journal: seed % 2 == 0 ? .together : nil
        ) { gateway async throws in
            try await Self.travel(gateway, "museum", "e", declarations, seed)
        }
    }

    private static func travel(
        _ gateway: RunningGateway, _ resource: String, _ section: String, _ declarations: [String: String], _ seed: Int
    ) async throws {
        try await gateway.client { client async throws in
            let trip = try await ValueTrip(
                client, resource: resource, section: section, declarations: declarations, seed: seed)
            var values = WireValues(seed: seed)
            var count = ValueTrip.Count()
            for _ in 0..<rounds {
                for id in 1...rows { try await trip.run(id, &values, &count) }
            }
            #expect(count.taken > declarations.count * rows, "seed \(seed): hardly anything was taken")
            #expect(count.refused > declarations.count, "seed \(seed): hardly anything was refused")
        }
    }

    /// An account with exactly these rights on the database of the test.
    private static func user(_ rights: Rights, of database: TestDatabase) async throws -> TestDatabase {
        let account = "'\(rights.user)'@'localhost'"
        try await database.run(
            "CREATE USER IF NOT EXISTS \(account); GRANT \(rights.rawValue) ON \(database.name).* TO \(account);")
        return database.asUser(rights.user)
    }
}
