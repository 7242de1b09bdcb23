import Foundation
import Testing
import TestSupport

/// `/readyz` fails while nothing can be pushed, and names rights that were revoked.
@Suite(.timeLimit(.minutes(3))) struct ReadOnlyTests {
    @Test(
        "A read-only server is not ready", .tags(.mariadb), .needsMariaDB,
        arguments: [nil, JournalPlace.together, .ahead])
    func readOnlyServer(_ place: JournalPlace?) async throws {
        let server = try await PrivateMariaDB()
        let database = try await Ledger.database(.mariadb, server: server)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/readyz").status == 200)
                try await server.run("SET GLOBAL read_only = ON")
                try await OutageTests.until { try await client.get("/readyz").status == 503 }
                let ready = try await client.get("/readyz").json()
                #expect(ready["status"]?.text == "not-ready")
                #expect(ready.description.contains("nothing can be pushed"), "\(ready)")
                #expect(ready.description.contains("read-only"), "\(ready)")
                #expect(try await client.metric("fieldmerge_ready") == 0)
                #expect(try await client.get("/v1/records/accounts/1").status == 200)
                try await server.run("SET GLOBAL read_only = OFF")
                try await OutageTests.until { try await client.get("/readyz").status == 200 }
            }
        }
        server.kill()
    }

    /// The system permits the process no write to any file.
    @Test("A SQLite file that cannot be written is not ready", arguments: ["DELETE", "WAL"])
    func unwritableFile(_ mode: String) async throws {
        let database = try await Ledger.database(.sqlite)
        try await database.run("PRAGMA journal_mode = \(mode);")
        let gateway = try await GatewayProcess(
            database, rules: Ledger.rules, wrapper: ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        @Sendable func limit(_ bytes: String) async throws {
            try await Shell.run(["prlimit", "--pid", "\(gateway.identifier)", "--fsize=\(bytes):"])
        }
        try await HTTPClient.with(port: gateway.port) { client async throws in
            #expect(try await client.get("/readyz").status == 200)
            try await limit("0")
            try await OutageTests.until { try await client.get("/readyz").status == 503 }
            #expect(try await client.get("/readyz").text.contains("nothing can be pushed"))
            try await limit("unlimited")
            try await OutageTests.until { try await client.get("/readyz").status == 200 }
        }
    }

    /// A probe that has to wait for another program reports no failure.
    @Test("A database that another program has locked remains ready")
    func heldFile() async throws {
        let database = try await Ledger.database(.sqlite)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let holder = try database.session()
                try await holder.run("BEGIN IMMEDIATE;")
                let end = ContinuousClock.now + .seconds(3)
                while ContinuousClock.now < end { #expect(try await client.get("/readyz").status == 200) }
                try await holder.run("COMMIT;")
            }
        }
    }

    @Test(
        "A right that is revoked at run time is named", .tags(.mariadb), .needsMariaDB,
        arguments: ["SELECT", "INSERT", "UPDATE", "DELETE"])
    func revokedRight(_ right: String) async throws {
        let database = try await Ledger.database(.mariadb)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/readyz").json()["problems"]?.array.isEmpty == true)
                let table = "`\(database.name)`.bookings"
                try await database.run("REVOKE \(right) ON \(table) FROM \(database.accountSQL)")
                let answer =
                    switch right {
                    case "SELECT": try await client.get("/v1/records/accounts/1")
                    case "INSERT":
                        try await client.post(
                            "/v1/push", Ledger.Push(label: "p", account: 1, points: 1).body(isKeyed: false))
                    case "UPDATE":
                        try await client.post(
                            "/v1/merge/accounts",
                            #"{"id":1,"changeset":{"bookings":[{"id":1,"label":{"old":"first","new":"x"}}]}}"#)
                    default:
                        try await client.post(
                            "/v1/merge/accounts",
                            #"{"id":1,"changeset":{"bookings":[{"id":1,"old":{"label":"first"},"new":null}]}}"#)
                    }
                #expect(answer.status == 422 || answer.status == 503, "\(answer.text)")
                try await OutageTests.until { try await client.get("/readyz").text.contains("bookings") }
                #expect(try await client.get("/readyz").status == 200)
                try await database.run("GRANT \(right) ON \(table) TO \(database.accountSQL)")
                try await OutageTests.until {
                    try await client.get("/readyz").json()["problems"]?.array.isEmpty == true
                }
            }
        }
    }
}
