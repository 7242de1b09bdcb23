#if os(Linux) || os(macOS)
    import FieldMergeTesting
    import Foundation
    import GRDB
    import Testing

    @testable import FieldMergeClient

    /// The program under test, and what it serves.
    enum BuiltProgram {
        static let root = SharedCases.folder.deletingLastPathComponent().deletingLastPathComponent()

        /// The gateway's program: named by FIELDMERGE_PROGRAM, or the one that was built beside the tests.
        static let url: URL? = {
            let named = ProcessInfo.processInfo.environment["FIELDMERGE_PROGRAM"]
            let paths = named.map { [$0] } ?? ["debug", "release"].map { root.path + "/.build/\($0)/fieldmerge" }
            return paths.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }
        }()
    }

    /// The client against the real gateway, on SQLite, with the shop of the samples.
    @Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: BuiltProgram.url != nil, "no gateway was built"))
    struct GatewayClientTests {
        static func gateway() async throws -> RealGateway {
            let sql = try String(
                contentsOf: BuiltProgram.root.appendingPathComponent("Samples/shop/sqlite.sql"), encoding: .utf8)
            return try await RealGateway.start(
                program: try #require(BuiltProgram.url), rules: BuiltProgram.root.appendingPathComponent("MergeRules"),
                sql: sql)
        }

        private static func opened(
            _ gateway: RealGateway, at url: URL = URL(fileURLWithPath: ":memory:"), snapshot: URL? = nil
        ) async throws -> FieldMergeStore {
            try await FieldMergeStore.open(
                at: url, server: gateway.url, user: "anna", resources: ["shoppers", "aisles"], client: "tests/1.0",
                snapshot: snapshot
            ) { "none" }
        }

        @Test func twoDevicesEditAShopper() async throws {
            let gateway = try await Self.gateway()
            let (phone, tablet) = (try await Self.opened(gateway), try await Self.opened(gateway))
            #expect(try await phone.sync().isOK)
            #expect(try await tablet.sync().isOK)
            #expect(try await phone.records("shoppers").count == tablet.records("shoppers").count)
            let one = try await phone.edit("shoppers", 123) { edit in
                edit["customer", "firstName"] = "Bob"
                edit["groceries"].append(["name": "Rice", "quantity": "1 kg"])
            }
            let other = try await tablet.edit("shoppers", 123) { edit in
                edit["customer", "firstName"] = "Jim"
                edit["customer", "address"] = ["street": "2 High St"]
            }
            #expect(try await phone.sync().isOK)
            #expect(try await tablet.sync().isOK)
            #expect(try await phone.sync().isOK)
            #expect(await one.outcome.status == .merged)
            let outcome = await other.outcome
            #expect(outcome.status == .merged)
            #expect(outcome.conflicts.map(\.group) == ["firstName"])
            #expect(outcome.conflicts.map(\.current) == ["Bob"])
            let records = [try await phone.record("shoppers", 123), try await tablet.record("shoppers", 123)]
            #expect(records[0] == records[1])
            #expect(records[0]?["customer", "street"] == "2 High St")
            #expect(records[0]?["groceries"].arrayValue?.contains { $0["name"] == "Rice" } == true)
            await phone.close()
            await tablet.close()
        }

        @Test func rowsThatBuildOnOneAnotherGetTheirKeys() async throws {
            let gateway = try await Self.gateway()
            let store = try await Self.opened(gateway)
            #expect(try await store.sync().isOK)
            let ticket = try await store.transaction { transaction in
                let aisle = try transaction.create("aisles") { $0["aisle", "name"] = "Oils" }
                try transaction.edit("shoppers", 124) {
                    $0["groceries"].append(["name": "Olive oil", "quantity": "1 l", "aisle": aisle])
                }
            }
            #expect(ticket.id.stringValue?.hasPrefix("tmp:") == true)
            #expect(try await store.sync().isOK)
            let made = try await store.record("aisles", ticket.id)
            #expect(made?.id.intValue != nil)
            let groceries = try #require(await store.record("shoppers", 124)?["groceries"].arrayValue)
            #expect(groceries.first { $0["name"] == "Olive oil" }?["aisle"] == made?.id)
            await store.close()
        }

        @Test func editsSurviveTheGatewayAndTheProcess() async throws {
            let folder = try TemporaryFolder()
            let gateway = try await Self.gateway()
            var store = try await Self.opened(gateway, at: folder.file("store.db"))
            #expect(try await store.sync().isOK)
            gateway.kill()
            let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            let report = try await store.sync()
            #expect(report.phase == .waiting && report.unsent == 1)
            await store.close()
            store = try await Self.opened(gateway, at: folder.file("store.db"))
            #expect(try await store.record("shoppers", 123)?["customer", "firstName"] == "Bob")
            try await gateway.restart()
            #expect(try await store.sync().isOK)
            let found = try #require(try await store.ticket(ticket.token))
            #expect(await found.outcome.status == .merged)
            #expect(try gateway.query("SELECT first_name FROM customers WHERE customer_id = 123") == [["Bob"]])
            await store.close()
        }

        @Test func newsOfOthersComeByThemselves() async throws {
            let gateway = try await Self.gateway()
            let (phone, tablet) = (try await Self.opened(gateway), try await Self.opened(gateway))
            try await phone.start()
            try await tablet.start()
            var records = try tablet.observe("shoppers", 123).makeAsyncIterator()
            while let record = await records.next(), record == nil {}
            var statuses = phone.statuses.makeAsyncIterator()
            while let status = await statuses.next(), status.revision == nil {}
            let ticket = try await phone.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            #expect(await ticket.outcome.status == .merged)
            while let record = await records.next(), record?["customer", "firstName"] != "Bob" {}
            #expect(try await tablet.record("shoppers", 123)?["customer", "firstName"] == "Bob")
            await phone.close()
            await tablet.close()
        }

        @Test func aSnapshotInSQLiteIsTheStore() async throws {
            let folder = try TemporaryFolder()
            let gateway = try await Self.gateway()
            let url = folder.file("shop.sqlite")
            let process = Process()
            process.executableURL = BuiltProgram.url
            process.arguments = [
                "snapshot", "--rules", BuiltProgram.root.appendingPathComponent("MergeRules").path, "--database",
                "sqlite:\(gateway.database.path)", "--out", url.path, "--resources", "shoppers,aisles",
            ]
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            try await Self.checkTables(of: url)

            let store = try await Self.opened(gateway, at: folder.file("store.db"), snapshot: url)
            #expect(try await store.record("shoppers", 123)?["customer", "firstName"] == "Joe")
            #expect(await store.status.revision != nil)
            try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            let report = try await store.sync()
            #expect(report.isOK)
            #expect(report.changes <= 1, "only what has changed since is read")
            #expect(try gateway.query("SELECT first_name FROM customers WHERE customer_id = 123") == [["Bob"]])
            await store.close()
            let again = try await Self.opened(gateway, at: folder.file("store.db"), snapshot: url)
            #expect(try await again.record("shoppers", 123)?["customer", "firstName"] == "Bob")
            await again.close()
            let inMemory = try await Self.opened(gateway, snapshot: url)
            #expect(try await inMemory.record("shoppers", 123)?["customer", "firstName"] == "Joe")
            #expect(try await inMemory.sync().isOK)
            await inMemory.close()
        }

        /// The program that writes snapshots has the tables of the store in a copy of its own.
        private static func checkTables(of url: URL) async throws {
            let file = try StoreFile(at: URL(fileURLWithPath: ":memory:"), context: LedgerContext())
            let database = try DatabaseQueue(path: url.path)
            for table in ["meta", "base"] {
                let sql = "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('\(table)')"
                let own = try await file.writer.read { db in try Row.fetchAll(db, sql: sql).map(\.description) }
                let written = try await database.read { db in try Row.fetchAll(db, sql: sql).map(\.description) }
                #expect(own == written)
            }
            #expect(try await database.read { db in try Int.fetchOne(db, sql: "PRAGMA freelist_count") } == 0)
            file.close()
        }
    }
#endif
