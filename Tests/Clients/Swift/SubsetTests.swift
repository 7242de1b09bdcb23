#if os(Linux) || os(macOS)
    import FieldMergeTesting
    import Foundation
    import Testing

    @testable import FieldMergeClient

    /// A gateway on a database with the sample shop.
    enum ShopEngine: String, CaseIterable {
        case sqlite, mariadb

        /// The shared MariaDB server ends when its standard input ends, so with the test process.
        private static let server = Task {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "python3", SharedCases.folder.appendingPathComponent("mariadb.py").path,
                try #require(BuiltProgram.url).path, BuiltProgram.root.appendingPathComponent("MergeRules").path,
            ]
            process.standardInput = Pipe()
            process.standardOutput = output
            try process.run()
            // The script prints one line, when the server is ready.
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            return (process, line.trimmingCharacters(in: .newlines))
        }

        /// The options of a gateway on this engine.
        var options: [String] {
            get async throws { self == .sqlite ? [] : ["--database", try await Self.server.value.1] }
        }
    }

    /// Subsets with edits under way.
    @Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: BuiltProgram.url != nil, "no gateway was built"))
    struct SubsetTests {
        private static let memory = URL(fileURLWithPath: ":memory:")

        private static func opened(
            _ gateway: RealGateway, at url: URL = memory, counties: [JSONValue]? = nil
        ) async throws -> FieldMergeStore {
            try await FieldMergeStore.open(
                at: url, server: gateway.url, user: "anna", resources: ["shoppers", "aisles"],
                keep: ["shoppers": counties.map { [.oneOf("customer.county", $0)] } ?? []]
            ) { "none" }
        }

        private static func county(of record: Record) -> String { record["customer", "county"].stringValue ?? "" }

        /// The ids of the records with a county.
        private static func ids(_ store: FieldMergeStore, _ county: String) async throws -> [JSONValue] {
            try await store.records("shoppers").filter { Self.county(of: $0) == county }.map(\.id)
        }

        private static func counties(_ store: FieldMergeStore) async throws -> Set<String> {
            Set(try await store.records("shoppers").map(county(of:)))
        }

        private static func status(_ ticket: Ticket, in store: FieldMergeStore) async throws -> OutcomeStatus? {
            try await store.ticket(ticket.token)?.outcome.status
        }

        @Test("A subset changes while edits wait", arguments: ShopEngine.allCases)
        func another(engine: ShopEngine) async throws {
            let gateway = try await GatewayClientTests.gateway(options: engine.options)
            let file = try TemporaryFolder()
            let whole = try await Self.opened(gateway)
            var store = try await Self.opened(gateway, at: file.file("a.db"), counties: ["Kent"])
            for one in [whole, store] { #expect(try await one.sync().isOK) }
            let kent = try await Self.ids(whole, "Kent")
            let (first, second, third) = (kent[0], kent[1], kent[2])
            var tickets = [
                try await store.edit("shoppers", first) { $0["customer", "lastName"] = "Hill" },
                try await store.edit("shoppers", second) {
                    $0["customer", "address"] = ["county": "Essex"]
                    $0["groceries"].append(["name": "Rice", "quantity": "1 kg"])
                },
                try await store.create("shoppers") {
                    $0["customer", "firstName"] = "Ada"
                    $0["customer", "lastName"] = "Nought"
                    $0["customer", "address"] = ["street": "1 Zero Rd", "county": "Kent", "postCode": "CT1 1AA"]
                },
            ]
            await store.close()
            try await whole.edit("shoppers", third) { $0["customer", "address"] = ["county": "Essex"] }
            #expect(try await whole.sync().isOK)
            store = try await Self.opened(gateway, at: file.file("a.db"), counties: ["Essex"])
            tickets.append(try await store.edit("shoppers", first) { $0["customer", "phone"] = "01632 960001" })
            for one in [store, whole, store] { #expect(try await one.sync().isOK) }
            for ticket in tickets { #expect(try await Self.status(ticket, in: store) == .merged) }
            let left = try #require(try await whole.record("shoppers", first))
            #expect(left["customer", "lastName"] == "Hill" && left["customer", "phone"] == "01632 960001")
            let moved = try #require(try await whole.record("shoppers", second))
            #expect(Self.county(of: moved) == "Essex")
            #expect(moved["groceries"].arrayValue?.last?["name"] == "Rice")
            let created = try #require(try await store.ticket(tickets[2].token)?.outcome.record)
            #expect(try await whole.record("shoppers", created.id)?["customer", "lastName"] == "Nought")
            #expect(try await Self.counties(store) == ["Essex"])
            #expect(try await store.records("shoppers").map(\.id) == Self.ids(whole, "Essex"))
            let status = await store.status
            #expect(status.unsent == 0 && status.refused == 0)
            for one in [whole, store] { await one.close() }
        }

        @Test("Two stores with subsets edit one record, which leaves one subset", arguments: ShopEngine.allCases)
        func leaving(engine: ShopEngine) async throws {
            let gateway = try await GatewayClientTests.gateway(options: engine.options)
            let whole = try await Self.opened(gateway)
            let inland = try await Self.opened(gateway, counties: ["Kent", "Devon"])
            let coast = try await Self.opened(gateway, counties: ["Kent", "Cornwall"])
            for one in [whole, inland, coast] { #expect(try await one.sync().isOK) }
            let kent = try await Self.ids(whole, "Kent")
            let (first, second) = (kent[0], kent[1])
            try await inland.edit("shoppers", first) { $0["customer", "lastName"] = "Inland" }
            try await coast.edit("shoppers", first) {
                $0["customer", "lastName"] = "Coast"
                $0["customer", "address"] = ["county": "Cornwall"]
                $0["customer", "balance"] = "1.00"
            }
            #expect(try await coast.sync().isOK)
            // The record has departed. Its unsent edit is sent, and is a conflict.
            #expect(try await inland.sync().conflicts == 1)
            #expect(try await inland.record("shoppers", first) == nil)
            for one in [whole, coast] { #expect(try await one.sync().isOK) }
            let record = try #require(try await whole.record("shoppers", first))
            #expect(record["customer", "lastName"] == "Inland" && Self.county(of: record) == "Cornwall")
            #expect(try await coast.record("shoppers", first) == record)
            try await coast.edit("shoppers", first) { $0["customer", "address"] = ["county": "Devon"] }
            try await whole.delete("shoppers", second)
            let late = try await inland.edit("shoppers", second) { $0["customer", "lastName"] = "Late" }
            for one in [coast, whole] { #expect(try await one.sync().isOK) }
            _ = try await inland.sync()
            #expect(try await inland.record("shoppers", first).map(Self.county(of:)) == "Devon")
            #expect(try await coast.record("shoppers", first) == nil)
            #expect(try await inland.record("shoppers", second) == nil)
            #expect(await late.outcome.status == .refused)
            #expect(await inland.status.refused == 1)
            // Values of a filter are compared exactly, whatever the collation of the column.
            for (id, county) in zip(kent.dropFirst(2), ["kent", "Kent "] as [JSONValue]) {
                try await whole.edit("shoppers", id) { $0["customer", "address"] = ["county": county] }
            }
            for one in [whole, inland, coast] { #expect(try await one.sync().isOK) }
            #expect(try await Self.counties(inland) == ["Devon", "Kent"])
            #expect(try await Self.counties(coast) == ["Cornwall", "Kent"])
            let fresh = try await Self.opened(gateway, counties: ["Kent"])
            #expect(try await fresh.sync().isOK)
            #expect(try await fresh.records("shoppers").map(\.id) == Self.ids(whole, "Kent"))
            for one in [whole, inland, coast, fresh] { await one.close() }
        }

        @Test("Other rules and another subset while edits wait", arguments: ShopEngine.allCases)
        func rules(engine: ShopEngine) async throws {
            let folder = try TemporaryFolder()
            let rules = folder.file("rules")
            try FileManager.default.copyItem(at: BuiltProgram.root.appendingPathComponent("MergeRules"), to: rules)
            let sql = try String(
                contentsOf: BuiltProgram.root.appendingPathComponent("Samples/shop/sqlite.sql"), encoding: .utf8)
            let gateway = try await RealGateway.start(
                program: try #require(BuiltProgram.url), rules: rules, sql: sql, options: engine.options)
            var store = try await Self.opened(gateway, at: folder.file("a.db"), counties: ["Kent"])
            #expect(try await store.sync().isOK)
            let first = try #require(try await store.records("shoppers").first?.id)
            let ticket = try await store.edit("shoppers", first) {
                $0["customer", "lastName"] = "Ruled"
                $0["customer", "address"] = ["county": "Devon"]
            }
            let file = rules.appendingPathComponent("shoppers.yaml")
            let lines = try String(contentsOf: file, encoding: .utf8)
                .replacingOccurrences(
                    of: "      email: email\n", with: "      mail: {column: email, formerly: email}\n"
                )
                .split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains(" birthday: ") }
            try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            try await gateway.restart()
            await store.close()
            store = try await Self.opened(gateway, at: folder.file("a.db"), counties: ["Devon"])
            try await store.edit("shoppers", first) { $0["customer", "phone"] = "01632 960002" }
            for _ in 0..<3 { _ = try await store.sync() }
            let status = await store.status
            #expect(status.phase == .idle && status.unsent == 0 && status.refused == 0)
            #expect(try await Self.status(ticket, in: store) == .merged)
            let record = try #require(try await store.record("shoppers", first))
            #expect(record["customer", "lastName"] == "Ruled" && record["customer", "phone"] == "01632 960002")
            #expect(Self.county(of: record) == "Devon")
            #expect(try await Self.counties(store) == ["Devon"])
            await store.close()
        }
    }
#endif
