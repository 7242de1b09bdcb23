import Testing
import TestSupport

/// Clients that read only some records.
@Suite(.timeLimit(.minutes(5))) struct FilterTests {
    private static let open = FilterFixture.open

    @Test("Records that begin or stop to match are reported", arguments: TestEngine.allCases)
    func entering(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            var client = try await FilteredClient(session, Self.open)
            var whole = try await FilteredClient(session, nil)
            #expect(client.orders == [1, 2, 4] && client.ids("customers") == [1])
            #expect(client.feed != whole.feed && whole.orders == [1, 2, 3, 4])
            _ = try await session.push(FilterFixture.edit(1, "status", #""open""#, #""done""#))
            #expect(try await client.poll() == ["-orders/1"])
            _ = try await session.push(FilterFixture.edit(3, "status", #""done""#, #""late""#))
            #expect(try await client.poll() == ["orders/3"])
            // A change in a list is a change of a record that does not match.
            _ = try await session.push(
                #"{"resource":"orders","id":1,"changeset":{"lines":[{"id":1,"old":{"name":"x"},"new":null}]}}"#)
            #expect(try await client.poll() == ["-orders/1"])
            _ = try await session.push(
                #"{"resource":"orders","id":2,"changeset":{"order":{"old":{"status":"late"},"new":null}}}"#,
                #"{"resource":"orders","id":9,"changeset":{"order":{"old":null,"new":{"status":"open"}}}}"#)
            #expect(try await client.poll() == ["-orders/2", "orders/9"])
            #expect(try await client.poll() == [])
            #expect(client.orders == [3, 4, 9])
            #expect(try await whole.poll().count == 4)
            #expect(whole.orders == [1, 3, 4, 9])
            #expect(client.records["orders/3"] == whole.records["orders/3"])
        }
    }

    /// A record that left changes again before the client has read its page.
    @Test("Pages report records that no longer match", arguments: TestEngine.allCases)
    func departedRecords(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            var client = try await FilteredClient(session, Self.open)
            var other = try await FilteredClient(session, #"{"orders": {"order.status": "done"}}"#)
            _ = try await session.push(FilterFixture.edit(1, "status", #""open""#, #""done""#))
            _ = try await session.push(FilterFixture.edit(2, "title", #""beans""#, #""a""#))
            _ = try await session.push(FilterFixture.edit(4, "status", #""open""#, #""done""#))
            #expect(try await client.poll(limit: 1) == ["-orders/1"])
            _ = try await session.push(FilterFixture.edit(4, "title", #""Béans""#, #""b""#))
            _ = try await session.push(FilterFixture.edit(1, "title", #""Beans""#, #""c""#))
            #expect(try await client.poll(limit: 1) == ["orders/2"])
            #expect(try await client.poll(limit: 1) == ["-orders/4"])
            #expect(try await client.poll() == ["-orders/1"])
            #expect(client.orders == [2])
            #expect(try await other.poll() == ["-orders/2", "orders/4", "orders/1"])
            #expect(other.orders == [1, 3, 4])
        }
    }

    @Test(
        arguments: TestEngine.allCases,
        [
            (#""order.area": null"#, [2]), (#""order.area": 7"#, [1]), (#""order.area": [7, null]"#, [1, 2]),
            (#""order.area": "7""#, [1]), (#""order.area": []"#, []), (#""order.area": {"from": 8}"#, [3, 4]),
            (#""order.area": {"from": 7, "before": 9}"#, [1, 3]), (#""order.area": {"before": 8}"#, [1]),
            (#""order.weight": "2.5""#, [4]), (#""order.weight": 2"#, [2]),
            (#""order.weight": {"from": "2.00"}"#, [2, 3, 4]),
            (#""order.urgent": true"#, [1, 4]), (#""order.urgent": 0"#, [2, 3]),
            (#""order.title": "beans""#, [2]), (#""order.title": ["Beans", null]"#, [1, 3]),
            (#""order.title": {"from": "a"}"#, [2]), (#""order.title": {"before": "a"}"#, [1, 4]),
            (#""order.scheduled": {"from": "2026-11-01", "before": "2026-12-01"}"#, [1, 2]),
            (#""order.scheduled": "2026-12-01", "order.status": "done""#, [3]),
            (#""order.tags": "cold""#, [1]), (#""order.tags": [["heavy", "cold"], null]"#, [3, 4]),
            (#""order.status": "open", "order.urgent": true, "order.area": {"from": 8}"#, [4]),
        ])
    func conditionsCompareValues(_ kind: TestEngine, _ example: (conditions: String, ids: [Int])) async throws {
        try await FilterFixture.with(kind) { _, session in
            let client = try await FilteredClient(session, #"{"orders": {\#(example.conditions)}}"#)
            #expect(client.orders == example.ids)
        }
    }

    /// Libraries for forms encode a space as a plus sign, and a plus sign as %2B.
    @Test("A plus sign in a query is a space")
    func plusSign() async throws {
        try await FilterFixture.with(.sqlite) { gateway, session in
            try await gateway.database.run("UPDATE orders SET title = 'a b+c' WHERE id = 3;")
            let lines = try await session.lines(
                "/v1/snapshot?resources=orders&filter=%7B%22orders%22:+%7B%22order.title%22:+%22a+b%2Bc%22%7D%7D")
            #expect(lines.compactMap { $0["id"]?.int } == [3])
        }
    }

    @Test("ENUM members are ordered as in the column", arguments: TestEngine.allCases)
    func enumOrder(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            let client = try await FilteredClient(session, #"{"orders": {"order.status": {"from": "late"}}}"#)
            #expect(client.orders == (kind == .mariadb ? [2, 3] : [1, 2, 4]))
        }
    }

    /// The order of names and values, and their spelling, make no other filter.
    @Test("Equal filters have one feed", arguments: TestEngine.allCases)
    func equalFilters(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            let one = try await FilteredClient(
                session, #"{"orders": {"order.weight": 2, "order.area": ["8", 7, 7]}, "customers": {}}"#)
            let same = try await FilteredClient(
                session, #"{"orders":{"order.area":[7,8.0],"order.weight":["2.00"]}}"#)
            #expect(one.feed == same.feed)
            let none = try await FilteredClient(session, #"{"orders": {}}"#)
            #expect(none.feed == (try await session.position().feed))
            let changed = try await session.get(
                "/v1/changes?since=\(one.revision)&feed=\(one.feed)&" + FilterFixture.query(Self.open))
            #expect(changed.status == 410)
            let problem = try changed.json()
            #expect(problem["code"]?.text == "resync")
            #expect(problem["feed"]?.text == (try await FilteredClient(session, Self.open)).feed)
            #expect(try await session.get("/v1/changes?since=\(one.revision)&feed=\(one.feed)").status == 410)
        }
    }

    @Test(
        "Faults have a path", arguments: TestEngine.allCases,
        [
            (#"{"order": {}}"#, "unknown-resource", "filter.order"),
            (#"{"orders": {"order.state": 1}}"#, "unknown-field", "filter.orders.order.state"),
            (#"{"orders": {"status": 1}}"#, "unknown-field", "filter.orders.status"),
            (#"{"orders": {"lines.name": 1}}"#, "unknown-field", "filter.orders.lines.name"),
            (#"{"orders": {"order.area": {"from": []}}}"#, "invalid-value", "filter.orders.order.area.from"),
            (#"{"orders": {"order.area": [1, {}]}}"#, "invalid-value", "filter.orders.order.area[1]"),
            (
                #"{"orders": {"order.scheduled": {"from": "2026-13-01"}}}"#, "invalid-value",
                "filter.orders.order.scheduled.from"
            ),
            (
                #"{"orders": {"order.scheduled": {"before": null}}}"#, "invalid-value",
                "filter.orders.order.scheduled.before"
            ),
            (
                #"{"orders": {"order.scheduled": {"after": "2026-11-01"}}}"#, "unknown-member",
                "filter.orders.order.scheduled.after"
            ),
            (#"{"orders": {"order.scheduled": {}}}"#, "invalid", "filter.orders.order.scheduled"),
            (#"{"orders": {"order.tags": {"from": "cold"}}}"#, "invalid-value", "filter.orders.order.tags.from"),
            (#"{"orders": 1}"#, "invalid", "filter.orders"), ("[]", "invalid", "filter"), ("{", "not-json", nil),
            (#"{"orders": {}, "orders": {}}"#, "duplicate-member", nil),
        ])
    func faults(_ kind: TestEngine, _ fault: (filter: String, code: String, path: String?)) async throws {
        try await FilterFixture.with(kind) { _, session in
            let query = FilterFixture.query(fault.filter)
            for address in ["/v1/changes?", "/v1/snapshot?"] {
                let answer = try await session.get(address + query)
                #expect(answer.status == 400, "\(answer.text)")
                #expect(try answer.json()["code"]?.text == fault.code)
                #expect(try answer.json()["path"]?.text == fault.path)
            }
            let sync = try await session.post("/v1/sync", #"{"filter": \#(fault.filter)}"#)
            #expect(sync.status == 400)
        }
    }

    @Test(
        "A value outside the type is refused", arguments: TestEngine.allCases,
        [
            #""order.area": "x""#, #""order.area": 1.5"#, #""order.area": {"from": "x"}"#, #""order.weight": "1.505""#,
            #""order.scheduled": "2026-02-31""#, #""order.urgent": 2"#, #""order.title": 5"#,
        ])
    func invalidValues(_ kind: TestEngine, _ condition: String) async throws {
        try await FilterFixture.with(kind) { _, session in
            let answer = try await session.get(
                "/v1/snapshot?" + FilterFixture.query(#"{"orders": {\#(condition)}}"#))
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try answer.json()["code"]?.text == "invalid-value")
        }
    }

    @Test("An unknown ENUM member and a long filter are refused")
    func invalidMembers() async throws {
        try await FilterFixture.with(.mariadb) { _, session in
            let word = try await session.get(
                "/v1/snapshot?" + FilterFixture.query(#"{"orders": {"order.area": "x"}}"#))
            #expect(word.status == 400)
            #expect(try word.json()["path"]?.text == "filter.orders.order.area")
            let member = try await session.get(
                "/v1/snapshot?" + FilterFixture.query(#"{"orders": {"order.status": ["open", "gone"]}}"#))
            #expect(try member.json()["path"]?.text == "filter.orders.order.status[1]")
            let many = (0..<2_000).map(String.init).joined(separator: ",")
            let long = try await session.get(
                "/v1/snapshot?" + FilterFixture.query(#"{"orders": {"order.area": [\#(many)]}}"#))
            #expect(long.status == 400)
            #expect(try long.json()["path"]?.text == "filter")
            let some = (0..<900).map(String.init).joined(separator: ",")
            let client = try await FilteredClient(session, #"{"orders": {"order.area": [\#(some)]}}"#)
            #expect(client.orders == [1, 3, 4])
        }
    }

    @Test(arguments: TestEngine.allCases) func eventsAreFiltered(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { gateway, session in
            let client = try await FilteredClient(session, Self.open)
            try await gateway.client { events async throws in
                #expect(try await events.open(client.address, ["Accept": "text/event-stream"]) == 200)
                _ = try await session.push(FilterFixture.edit(3, "status", #""done""#, #""open""#))
                let first = try await events.nextChanges()
                #expect(first?.names == ["orders/3"] && first?["feed"]?.text == client.feed)
                _ = try await session.push(FilterFixture.edit(1, "status", #""open""#, #""done""#))
                let second = try await events.nextChanges()
                #expect(second?["changes"]?[0]?["record"]?.isNull == true)
            }
            try await gateway.client { events async throws in
                // Without a position, the first event has the feed of the filter.
                #expect(
                    try await events.open(
                        "/v1/changes?" + FilterFixture.query(Self.open), ["Accept": "text/event-stream"]) == 200)
                #expect(try await events.nextChanges()?["feed"]?.text == client.feed)
            }
        }
    }

    /// A push may edit any record, and its result is not filtered.
    @Test("A sync reports records of its pushes that do not match", arguments: TestEngine.allCases)
    func sync(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { _, session in
            let client = try await FilteredClient(session, Self.open)
            let create = #"{"resource":"orders","id":20,"changeset":{"order":{"old":null,"new":{"status":"done"}}}}"#
            let answer = try await session.post(
                "/v1/sync",
                #"""
                {"feed":"\#(client.feed)","since":\#(client.revision),"filter":\#(Self.open),"pushes":[
                  {"key":"a","edits":[\#(create), \#(FilterFixture.edit(3, "title", "null", #""z""#))]},
                  {"key":"b","edits":[\#(FilterFixture.edit(1, "title", #""Beans""#, #""z""#))]}]}
                """#
            ).json()
            #expect(answer["results"]?[0]?["results"]?[0]?["record"]?["order"]?["status"]?.text == "done")
            #expect(answer.names == ["orders/20", "orders/3", "orders/1"])
            let changes = answer["changes"]?.array ?? []
            #expect(changes.map { $0["record"]?.isNull } == [true, true, false])
            let other = try await session.post(
                "/v1/sync", #"{"feed":"\#(client.feed)","since":\#(client.revision)}"#)
            #expect(other.status == 207)
            #expect(try other.json()["problem"]?["code"]?.text == "resync")
        }
    }

    @Test(arguments: TestEngine.allCases) func aSnapshotContinues(_ kind: TestEngine) async throws {
        try await FilterFixture.with(kind) { gateway, session in
            let values = (100..<3_100).map { "(\($0), '\($0 % 2 == 0 ? "open" : "done")', \($0 % 3))" }
            try await gateway.database.run(
                "INSERT INTO orders (id, status, area) VALUES \(values.joined(separator: ","));")
            let query = FilterFixture.query(Self.open)
            let whole = try await session.lines("/v1/snapshot?" + query)
            #expect(whole.compactMap { $0["record"] }.count == 1_504)
            // The client's part is counted, or unknown.
            let estimate = try #require(whole[0]["snapshot"]?["records"])
            #expect(estimate.isNull || estimate.int == 1_504)
            let cursors = whole.compactMap { $0["cursor"]?.text }
            let cursor = try #require(cursors.last)
            let place = try #require(whole.firstIndex { $0["cursor"]?.text == cursor })
            let rest = whole[(place + 1)...].compactMap { $0["record"] }
            for address in ["/v1/snapshot?after=\(cursor)&" + query, "/v1/snapshot?after=\(cursor)"] {
                let continued = try await session.lines(address)
                #expect(continued.compactMap { $0["record"] } == rest)
                #expect(continued[0]["snapshot"]?["feed"] == whole[0]["snapshot"]?["feed"])
            }
            let other = FilterFixture.query(#"{"orders": {"order.status": "done"}}"#)
            #expect(try await session.get("/v1/snapshot?after=\(cursor)&" + other).status == 410)
        }
    }

    @Test(
        "The scan reports foreign changes for which records begin or stop to match, and nothing else",
        arguments: TestEngine.allCases)
    func foreignChanges(_ kind: TestEngine) async throws {
        let database = try await FilterFixture.database(kind)
        let values = (100..<1_500).map { "(\($0), 'done', 1)" }
        try await database.run("INSERT INTO orders (id, status, area) VALUES \(values.joined(separator: ","));")
        try await ScanFixture.run(on: database, rules: FilterFixture.rules) { gateway async throws in
            try await gateway.client { session async throws in
                var client = try await FilteredClient(session, Self.open)
                func wait(_ sql: String, _ id: Int) async throws {
                    try await database.run(sql)
                    let end = ContinuousClock.now + .seconds(60)
                    var reported: [String] = []
                    while !reported.contains(where: { $0.hasSuffix("orders/\(id)") }) {
                        guard ContinuousClock.now < end else { throw Shell.Failure(description: "no \(id)") }
                        reported += try await client.poll()
                    }
                    #expect(reported.count == 1, "\(reported)")
                }
                try await wait("UPDATE orders SET status = 'done' WHERE id = 1;", 1)
                #expect(client.orders == [2, 4])
                // The ranges around these rows are read row by row.
                try await wait("UPDATE orders SET status = 'open' WHERE id = 700;", 700)
                try await wait("UPDATE orders SET title = 'x' WHERE id = 701;", 701)
                try await wait("DELETE FROM orders WHERE id = 2;", 2)
                #expect(client.orders == [4, 700])
                #expect(try await session.metric("fieldmerge_scan_changes_total") == 4)
            }
        }
    }
}

extension HTTPClient.Session {
    /// Returns the lines of a snapshot.
    func lines(_ address: String) async throws -> [JSON] {
        let answer = try await get(address)
        guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
        return try answer.text.split(separator: "\n").map { try JSON(String($0)) }
    }

    /// Reads the next changes and skips comments.
    func nextChanges() async throws -> JSON? {
        while let piece = try await nextPiece() {
            for line in piece.split(separator: "\n") where line.hasPrefix("data: ") {
                return try JSON(String(line.dropFirst(6)))
            }
        }
        return nil
    }
}
