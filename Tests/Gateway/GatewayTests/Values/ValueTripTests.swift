import Testing
import TestSupport

/// Every value that the wire accepts is written and found again, in columns of every type.
@Suite(.timeLimit(.minutes(5))) struct ValueTripTests {
    private static let rows = 4
    private static let rounds = 3

    @Test(.tags(.mariadb), .needsMariaDB, arguments: MariaDBRights.allCases, 0..<3) func mariaDB(
        _ rights: MariaDBRights, seed: Int
    ) async throws {
        let database = try await TestDatabase(.mariadb, mariadb: ColumnTypeSamples.schema, sqlite: "")
        try await database.run("INSERT INTO museum (id) VALUES (3), (4);")
        let user = try await rights.user(of: database)
        let declarations = Dictionary(
            ColumnTypeSamples.exhibits.enumerated().map {
                (ColumnTypeSamples.group($0), $1.declaration + ($1.rule ?? ""))
            },
            uniquingKeysWith: { $1 })
        try await RunningGateway.with(user, rules: ColumnTypeSamples.rules) { gateway async throws in
            try await Self.travel(gateway, "museum", "exhibit", declarations, seed)
        }
    }

    @Test(arguments: 0..<6) func sqlite(_ seed: Int) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: SQLiteColumnTypeTests.schema)
        try await database.run("INSERT INTO museum (id) VALUES (3), (4);")
        let declarations = Dictionary(
            SQLiteColumnTypeTests.exhibits.map { ($0.name, $0.declaration + ($0.rule ?? "")) }, uniquingKeysWith: { $1 }
        )
        try await RunningGateway.with(
            database, rules: SQLiteColumnTypeTests.rules, journal: seed % 2 == 0 ? .together : nil
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
            var log = ValueTrip.Log()
            for _ in 0..<rounds {
                for id in 1...rows { try await trip.run(id, &values, &log) }
            }
            for _ in 0..<rows { try await trip.create(&values, log) }
            try await trip.together(1...rows, &values, log)
            #expect(log.taken > declarations.count * rows, "seed \(seed): hardly anything was taken")
            #expect(log.refused > declarations.count, "seed \(seed): hardly anything was refused")
        }
    }
}
