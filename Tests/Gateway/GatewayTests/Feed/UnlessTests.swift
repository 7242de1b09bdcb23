import Testing
import TestSupport

/// Clients that change their filter and keep the records that both filters contain.
@Suite(.timeLimit(.minutes(5))) struct UnlessTests {
    private static let open = FilterFixture.open
    private static let area = #"{"orders": {"order.area": {"from": 7, "before": 9}}}"#

    @Test("Only the difference is sent", arguments: TestEngine.allCases)
    func difference(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            var client = try await FilteredClient(session, Self.open)
            #expect(client.orders == [1, 2, 4])
            client.filter = Self.area
            #expect(
                try await client.snapshot(unless: client.feed) == ["-orders/2", "orders/3", "-orders/4"])
            #expect(client.orders == [1, 3] && client.ids("customers") == [1])
            client.filter = nil
            #expect(try await client.snapshot(unless: client.feed) == ["orders/2", "orders/4"])
            #expect(try await client.snapshot(unless: client.feed) == [])
            client.filter = Self.open
            #expect(try await client.snapshot(unless: client.feed) == ["-orders/3"])
            #expect(client.orders == [1, 2, 4])
        }
    }

    @Test("Two filters that differ only in their Unicode form have a difference", arguments: TestEngine.allCases)
    func unicodeForms(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { gateway, session in
            try await gateway.database.run(
                "INSERT INTO orders (id, status, area, title) VALUES (5, 'open', 7, 'Be\u{301}ans');")
            var client = try await FilteredClient(session, #"{"orders": {"order.title": ["B\#u{E9}ans"]}}"#)
            #expect(client.orders == [4])
            client.filter = #"{"orders": {"order.title": ["Be\#u{301}ans"]}}"#
            #expect(try await client.snapshot(unless: client.feed) == ["-orders/4", "orders/5"])
        }
    }

    /// The changes follow the snapshot.
    @Test("Changes after the earlier position are reported", arguments: TestEngine.allCases, [true, false])
    func laterChanges(_ kind: TestEngine, _ namesRevision: Bool) async throws {
        try await FilterFixture.with(kind) { _, session in
            _ = try await session.push(FilterFixture.edit(4, "title", #""Béans""#, #""a""#))
            var client = try await FilteredClient(session, Self.open)
            #expect(try await client.poll() == [])
            _ = try await session.push(FilterFixture.edit(1, "title", #""Beans""#, #""new""#))
            _ = try await session.push(FilterFixture.edit(2, "status", #""late""#, #""done""#))
            client.filter = Self.area
            let former = client.feed + (namesRevision ? ":\(client.revision)" : "")
            #expect(try await client.snapshot(unless: former) == ["orders/3", "-orders/4"])
            // Order 2 matches neither filter now.
            #expect(client.orders == [1, 2, 3])
            let changes = try await client.poll()
            #expect(changes == (namesRevision ? [] : ["-orders/4"]) + ["orders/1", "-orders/2"])
            #expect(client.records["orders/1"]?["order"]?["title"]?.text == "new")
            #expect(client.orders == [1, 3])
        }
    }

    @Test("An unknown earlier feed has status 410", arguments: TestEngine.allCases)
    func unknownFeed(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            let client = try await FilteredClient(session, Self.open)
            let own = client.feed.split(separator: ".")[0]
            for former in [
                "x", "", "x..e30", "\(own).00.e30", "\(own)..e3", "\(own)..e30.e30", "\(client.feed):999", "\(own):-1",
            ] {
                let answer = try await session.get(
                    "/v1/snapshot?\(FilterFixture.query(Self.area))&unless=" + FilterFixture.encoded(former))
                #expect(answer.status == 410, "\(former)")
                #expect(try answer.json()["code"]?.text == "resync")
            }
        }
    }

    /// The client may lack a change that the feed no longer has.
    @Test("Without a revision, all changes of the feed are needed", arguments: TestEngine.allCases)
    func noRevision(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { gateway, session in
            var client = try await FilteredClient(session, Self.open)
            _ = try await session.push(FilterFixture.edit(1, "title", #""Beans""#, #""new""#))
            _ = try await session.post("/v1/sync", "{}")
            try await gateway.database.runOnJournal("UPDATE feed SET oldest = last; DELETE FROM changes;")
            let formers = [client.feed, "\(client.feed):\(client.revision)"]
            client.filter = Self.area
            let address = "/v1/snapshot?\(FilterFixture.query(Self.area))&unless="
            for former in formers {
                var answer = try await session.get(address + FilterFixture.encoded(former))
                if answer.status == 200, let head = answer.text.split(separator: "\n").first {
                    // The gateway had read the feed just before, so the changes after the snapshot were pruned.
                    let snapshot = try JSON(String(head))["snapshot"]
                    client.feed = snapshot?["feed"]?.text ?? ""
                    client.revision = snapshot?["revision"]?.int ?? 0
                    answer = try await session.get(client.address)
                }
                #expect(answer.status == 410, "\(former)")
            }
            var other = try await FilteredClient(session, Self.open)
            let former = "\(other.feed):\(other.revision)"
            other.filter = Self.area
            #expect(try await other.snapshot(unless: former) == ["-orders/2", "orders/3", "-orders/4"])
        }
    }

    @Test("An interrupted download continues", arguments: TestEngine.allCases)
    func interrupted(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { gateway, session in
            let values = (100..<3_100).map { "(\($0), '\($0 % 2 == 0 ? "open" : "done")', 7)" }
            try await gateway.database.run(
                "INSERT INTO orders (id, status, area) VALUES \(values.joined(separator: ","));")
            let client = try await FilteredClient(session, Self.open)
            let query = FilterFixture.query(Self.area) + "&unless=" + client.feed
            let whole = try await session.lines("/v1/snapshot?" + query)
            #expect(whole.filter { $0["record"]?.isNull == false }.count == 1_501)
            #expect(whole.filter { $0["record"]?.isNull == true }.count == 2)
            let cursors = whole.compactMap { $0["cursor"]?.text }
            #expect(cursors.count >= 3)
            for cursor in cursors {
                let place = try #require(whole.firstIndex { $0["cursor"]?.text == cursor })
                let rest = whole[(place + 1)...].compactMap { $0["id"] }
                for address in ["/v1/snapshot?after=\(cursor)&" + query, "/v1/snapshot?after=\(cursor)"] {
                    #expect(try await session.lines(address).compactMap { $0["id"] } == rest)
                }
            }
            #expect(
                try await session.get(
                    "/v1/snapshot?after=\(cursors[0])&" + FilterFixture.query(Self.area) + "&unless=x"
                ).status == 400)
        }
    }

    @Test("The scan does not report records that such a snapshot omitted", arguments: TestEngine.allCases)
    func omitted(_ kind: TestEngine) async throws {
        let database = try await FilterFixture.database(kind)
        try await ScanFixture.run(on: database, rules: FilterFixture.rules) { gateway async throws in
            try await gateway.client { session async throws in
                var client = try await FilteredClient(session, Self.open)
                client.filter = Self.area
                _ = try await client.snapshot(unless: client.feed)
                try await database.run("UPDATE orders SET status = 'done' WHERE id = 1;")
                let end = ContinuousClock.now + .seconds(60)
                var reported: [String] = []
                while reported.isEmpty, ContinuousClock.now < end { reported += try await client.poll() }
                #expect(reported == ["orders/1"])
                try await database.run("UPDATE orders SET area = 8 WHERE id = 2;")
                reported = []
                while reported.isEmpty, ContinuousClock.now < end { reported += try await client.poll() }
                #expect(reported == ["orders/2"])
                #expect(try await session.metric("fieldmerge_scan_changes_total") == 2)
            }
        }
    }
}
