#if os(Linux) || os(macOS)
    import FieldMergeTesting
    import Foundation
    import GRDB
    import Synchronization
    import Testing

    @testable import FieldMergeClient

    /// The tested program and its rules.
    enum BuiltProgram {
        static let root = SharedCases.folder.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()

        /// The gateway's program: that of FIELDMERGE_PROGRAM, or the one in the folder of the tests.
        static let url: URL? = {
            let named = ProcessInfo.processInfo.environment["FIELDMERGE_PROGRAM"]
            let paths = named.map { [$0] } ?? ["debug", "release"].map { root.path + "/.build/\($0)/fieldmerge" }
            return paths.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }
        }()
    }

    /// The client against the real gateway, on SQLite, with the shop of the samples.
    @Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: BuiltProgram.url != nil, "no gateway was built"))
    struct GatewayClientTests {
        static func gateway(options: [String] = []) async throws -> RealGateway {
            let sql = try String(
                contentsOf: BuiltProgram.root.appendingPathComponent("Samples/shop/sqlite.sql"), encoding: .utf8)
            return try await RealGateway.start(
                program: try #require(BuiltProgram.url), rules: BuiltProgram.root.appendingPathComponent("MergeRules"),
                sql: sql, options: options)
        }

        private static func opened(
            _ gateway: RealGateway, at url: URL = URL(fileURLWithPath: ":memory:"), snapshot: URL? = nil
        ) async throws -> FieldMergeStore {
            try await FieldMergeStore.open(
                at: url, server: gateway.url, user: "anna", resources: ["shoppers", "aisles"], client: "tests/1.0",
                snapshot: snapshot
            ) { "none" }
        }

        @Test("Two devices edit a shopper")
        func twoDevices() async throws {
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

        @Test("Rows that refer to each other get their keys")
        func dependentRows() async throws {
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

        @Test("Edits survive restarts of the gateway and of the process")
        func restarts() async throws {
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

        @Test("Changes of other users arrive without a sync")
        func events() async throws {
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

        @Test("A large push is packed, and small pushes do not wait for it")
        func aLargePush() async throws {
            let gateway = try await Self.gateway()
            let store = try await Self.opened(gateway)
            #expect(try await store.sync().isOK)
            var dice = SeededDice(3)
            let letters = Array("abcdefghijklmnopqrstuvwxyz é€😀\"\\\n")
            let notes = String((0..<400_000).map { _ in dice.pick(letters) })
            let large = try await store.edit("shoppers", 123) { $0["customer", "notes"] = .string(notes) }
            let small = try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" }
            let behind = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            #expect(try await store.sync().isOK)
            for ticket in [large, small, behind] { #expect(await ticket.outcome.status == .merged) }
            let rows = try gateway.query("SELECT first_name, notes FROM customers WHERE customer_id = 123")
            #expect(rows == [["Bob", .string(notes)]])
            await store.close()
        }

        @Test("A token of another user sends nothing of this user's edits")
        func aTokenOfAnotherUser() async throws {
            let folder = try TemporaryFolder()
            let hashes = [
                "anna": "c3cdf8b93111159d4a078d5b124d961890ae85d5aa9a955cfbe670c1d85f98ff",
                "ben": "096835dcf70a20417cf2111f4634cbb41be9a56a0e9be1a68a597d92e460e3c0",
            ]
            let lines = hashes.map { "\($0.key) read,write sha256:\($0.value)\n" }.joined()
            try lines.write(to: folder.file("tokens"), atomically: true, encoding: .utf8)
            let gateway = try await Self.gateway(options: ["--tokens", folder.file("tokens").path])
            let user = Mutex("anna")
            let store = try await FieldMergeStore.open(
                at: folder.file("store.db"), server: gateway.url, user: "anna", resources: ["shoppers"]
            ) { user.withLock { "\($0)-token" } }
            #expect(try await store.sync().isOK)
            try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            user.withLock { $0 = "ben" }
            await store.setToken { user.withLock { "\($0)-token" } }
            let report = try await store.sync()
            #expect(report.phase == .needsAuth && report.problem?["code"] == "other-who")
            #expect(try gateway.query("SELECT first_name FROM customers WHERE customer_id = 123") == [["Joe"]])
            user.withLock { $0 = "anna" }
            #expect(try await store.sync().isOK)
            #expect(try gateway.query("SELECT first_name FROM customers WHERE customer_id = 123") == [["Bob"]])
            await store.close()
        }

        @Test("A snapshot in SQLite can be used as store")
        func snapshot() async throws {
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

        /// The program that writes snapshots contains a copy of the store's tables.
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
