import MergeService
import Testing
import TestSupport

@testable import Gateway

/// An unreadable record is reported, and other records are not affected.
@Suite(.timeLimit(.minutes(3))) struct UnreadableTests {
    private typealias Fixture = UnreadableFixture

    /// Changes a readable customer and the unreadable ones.
    private static func touchAll(_ database: TestDatabase) async throws {
        try await database.run("UPDATE customers SET name = 'touched' WHERE id IN (1, 3, 5, 7);")
    }

    private static func check(_ changes: [JSON]) {
        for change in changes {
            let isBad = Fixture.badNames.contains(change.name)
            #expect(change.isUnreadable == isBad && change["record"]?.isNull == isBad, "\(change)")
        }
    }

    @Test("GET of an unreadable record has a separate problem", arguments: TestEngine.allCases)
    func get(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, _ in
            for id in 1...9 {
                let answer = try await client.get("/v1/records/customers/\(id)")
                #expect(answer.status == (Fixture.bad.contains(id) ? 422 : 200), "\(answer.text)")
                if Fixture.bad.contains(id) { #expect(try answer.json()["code"]?.text == "unreadable-record") }
            }
            #expect(try await client.get("/v1/records/customers/10").status == 404)
        }
    }

    @Test("A page lists an unreadable record with its id and problem", arguments: TestEngine.allCases)
    func pagesGoOn(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, _ in
            for limit in [1, 2, 4, 100] {
                var (ids, next): ([Int], String?) = ([], "")
                while let after = next {
                    let path = "/v1/records/customers?limit=\(limit)" + (after.isEmpty ? "" : "&after=\(after)")
                    let page = try await client.get(path).json()
                    let records = page["records"]?.array ?? []
                    ids += records.compactMap { $0["id"]?.int }
                    for record in records { Self.checkItem(record) }
                    next = page["next"]?.text
                }
                #expect(ids == Array(1...9), "limit \(limit)")
            }
        }
    }

    @Test(
        "A push that is merged into an unreadable record is not stored as a refused one", arguments: TestEngine.allCases
    )
    func mergedPushes(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, _ in
            let answer = try await client.post("/v1/push", #"{"key":"k","edits":[\#(Fixture.rename(5, "new"))]}"#)
            let result = try answer.json()["results"]?[0]
            #expect(answer.status == 200 && result?["status"]?.text == "merged", "\(answer.text)")
            #expect(result?.isUnreadable == true, "\(answer.text)")
            let refused = try await client.get("/v1/journal?refused=true")
            #expect(try refused.json()["entries"]?.array.isEmpty == true, "\(refused.text)")
        }
    }

    private static func checkItem(_ record: JSON) {
        let isBad = Fixture.bad.contains(record["id"]?.int ?? 0)
        #expect((record["problem"]?["code"]?.text == "unreadable-record") == isBad, "\(record)")
        #expect((record["customer"] == nil) == isBad, "\(record)")
    }

    @Test("A snapshot names the unreadable records and is complete", arguments: TestEngine.allCases)
    func snapshotsGoOn(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, _ in
            let lines = try await client.get("/v1/snapshot").text.split(separator: "\n").map { try JSON(String($0)) }
            let records = lines.filter { $0["resource"] != nil }
            #expect(records.compactMap { $0["id"]?.int } == Array(1...9))
            Self.check(records)
            #expect(lines.last?["end"]?["records"]?.int == 9)
        }
    }

    @Test("Changes report unreadable records once, and again when they are repaired", arguments: TestEngine.allCases)
    func changesGoOn(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, database in
            let start = try await client.position()
            try await Self.touchAll(database)
            let names = Fixture.badNames.union(["customers/1"])
            let reported = try await client.changes(after: start, until: names)
            Self.check(reported.changes)
            let body = #"{"since":\#(start.revision),"feed":"\#(start.feed)"}"#
            let sync = try await client.post("/v1/sync", body).json()
            #expect(Set(sync.names) == names)
            Self.check(sync["changes"]?.array ?? [])
            // Nothing happens to them, so nothing is reported.
            let cycles = try await client.metric("fieldmerge_scan_cycles_total")
            try await database.run("UPDATE customers SET name = 'more' WHERE id = 2;")
            let more = try await client.changes(after: reported.position, until: ["customers/2"])
            while try await client.metric("fieldmerge_scan_cycles_total") < cycles + 2, kind == .mariadb {}
            #expect(try await client.changes(after: reported.position).names == ["customers/2"])
            try await Fixture.repair(database)
            let mended = try await client.changes(after: more.position, until: Fixture.badNames).changes
            #expect(mended.allSatisfy { $0["problem"] == nil && $0["record"]?.isNull == false }, "\(mended)")
        }
    }

    @Test("A repair right after an unreadable record was read is reported", arguments: TestEngine.allCases)
    func repair(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, database in
            let start = try await client.position()
            // No pass runs between the pushes and the repair.
            let hold = try await ScanHold(database)
            for edit in [Fixture.rename(5, "x"), Fixture.rename(7, "x")] { _ = try await client.push(edit) }
            let page = try await client.changes(after: start)
            #expect(Set(page.names) == ["customers/5", "customers/7"])
            try await Fixture.repair(database)
            try await hold.end()
            let position = (feed: start.feed, revision: page["revision"]?.int ?? 0)
            let reported = try await client.changes(after: position, until: Fixture.badNames).changes
            #expect(reported.allSatisfy { $0["problem"] == nil }, "\(reported)")
        }
    }

    @Test("A record with two rows of one key is reported again when one of them is deleted")
    func doubledKey() async throws {
        try await Fixture.with(.mariadb) { client, database in
            let start = try await client.position()
            let hold = try await ScanHold(database)
            _ = try await client.push(Fixture.rename(1, "x"))
            try await database.run(
                "ALTER TABLE customers DROP PRIMARY KEY; INSERT INTO customers (id, name) VALUES (1, 'twice');")
            let page = try await client.changes(after: start)
            #expect(page["changes"]?.array.first?.isUnreadable == true, "\(page)")
            // The rows are as the scan has read them before, so only the delivery record shows that a client lacks them.
            try await database.run(
                "DELETE FROM customers WHERE name = 'twice'; ALTER TABLE customers ADD PRIMARY KEY (id);")
            try await hold.end()
            let position = (feed: start.feed, revision: page["revision"]?.int ?? 0)
            let reported = try await client.changes(after: position, until: ["customers/1"]).changes
            #expect(reported.allSatisfy { $0["problem"] == nil }, "\(reported)")
        }
    }

    @Test("A record with two rows of one key is reported again when the row that the scan reads first is deleted")
    func scannedDoubledKey() async throws {
        try await Fixture.with(.mariadb) { client, database in
            let start = try await client.position()
            // The server sorts so few rows with equal keys in the order of their insertion.
            try await database.run(
                """
                ALTER TABLE customers DROP PRIMARY KEY;
                BEGIN;
                DELETE FROM customers WHERE id = 1;
                INSERT INTO customers (id, name) VALUES (1, 'twice'), (1, 'x');
                COMMIT;
                """)
            let broken = try await client.changes(after: start, until: ["customers/1"])
            #expect(broken.changes.last?.isUnreadable == true, "\(broken.changes)")
            let cycles = try await client.metric("fieldmerge_scan_cycles_total")
            while try await client.metric("fieldmerge_scan_cycles_total") < cycles + 2 {}
            try await database.run(
                "DELETE FROM customers WHERE name = 'twice'; ALTER TABLE customers ADD PRIMARY KEY (id);")
            let reported = try await client.changes(after: broken.position, until: ["customers/1"]).changes
            #expect(reported.allSatisfy { $0["problem"] == nil }, "\(reported)")
        }
    }

    // MARK: Pushes

    @Test("An edit of a row that can be read is merged, and its result has a problem", arguments: TestEngine.allCases)
    func editsAreMerged(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, database in
            for id in [5, 7] {
                let answer = try await client.push(Fixture.rename(id, "new"))
                #expect(answer["status"]?.text == "merged")
                #expect(answer["results"]?[0]?.isUnreadable == true, "\(answer)")
                #expect(answer["results"]?[0]?["outcomes"]?[0]?["outcome"]?.text == "applied")
            }
            let both = try await client.push(Fixture.rename(1, "one"), Fixture.retitle(51, of: 5, "t"))
            #expect(both["results"]?[0]?["record"]?["customer"]?["name"]?.text == "one", "\(both)")
            #expect(both["results"]?[1]?.isUnreadable == true, "\(both)")
            let names = try await database.run("SELECT name FROM customers WHERE id IN (1, 5) ORDER BY id;")
            #expect(names == "one\nnew\n")
            #expect(try await database.run("SELECT title FROM orders WHERE id = 51;") == "t\n")
        }
    }

    @Test("A conflict in an unreadable record has the written value", arguments: TestEngine.allCases)
    func conflictsAreWhole(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, _ in
            let edit = FeedFixture.edit("customers", 7, "name", #""other""#, #""mine""#)
            let answer = try await client.push(edit)
            let outcome = answer["results"]?[0]?["outcomes"]?[0]
            #expect(outcome?["outcome"]?.text == "client-won", "\(answer)")
            #expect(outcome?["current"]?.text == "c7" && outcome?["written"]?.text == "mine", "\(answer)")
        }
    }

    @Test("A push does not make a record unreadable", arguments: TestEngine.allCases)
    func noPushMakesAListTooLong(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, _ in
            let items = (1...5).map { #"{"id":\#(800 + $0),"old":null,"new":{"title":"o"}}"# }.joined(separator: ",")
            let edit = #"{"edits":[{"resource":"customers","id":1,"changeset":{"orders":[\#(items)]}}]}"#
            let answer = try await client.post("/v1/push", edit)
            #expect((400..<500).contains(answer.status), "\(answer.text)")
            #expect(try await client.get("/v1/records/customers/1").status == 200)
        }
    }

    // MARK: Operators

    @Test("/readyz and a metric name the unreadable records until they are repaired", arguments: TestEngine.allCases)
    func metrics(_ kind: TestEngine) async throws {
        try await Fixture.with(kind) { client, database in
            _ = try await client.get("/v1/records/customers")
            let problems = try await client.get("/readyz").json()["problems"]?.array.compactMap(\.text) ?? []
            for id in Fixture.bad { #expect(problems.contains { $0.contains("customers/\(id) ") }, "\(problems)") }
            #expect(problems.count == 3)
            #expect(try await client.metric("fieldmerge_unreadable_records") == 3)
            let line = #"fieldmerge_unreadable_record{resource="customers",id="5"} 1"#
            #expect(try await client.get("/metrics").text.contains(line))
            try await Fixture.repair(database)
            // No client reads them again.
            while try await client.get("/readyz").json()["problems"]?.array.isEmpty != true {}
            #expect(try await client.metric("fieldmerge_unreadable_records") == 0)
        }
    }

    // MARK: Access

    @Test(
        "A client that cannot read the row gets no information about an unreadable record",
        arguments: TestEngine.allCases)
    func hiddenRecords(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together,
            configure: { $0.merge.rowsPerRecord = 1 }
        ) { gateway async throws in
            // Stop 1 has two parcels.
            let answers = try await Self.answers(gateway, "/v1/records/stops/1", [Rounds.ann, Rounds.bob, Rounds.boss])
            #expect(answers.map(\.status) == [422, 404, 422])
            let missing = try await gateway.get("/v1/records/stops/99", as: Rounds.bob)
            #expect(answers[1].text == missing.text)
            let pages = try await Self.answers(gateway, "/v1/records/stops", [Rounds.ann, Rounds.bob])
            #expect(pages.map { $0.text.contains("unreadable-record") } == [true, false])
            let snapshots = try await Self.answers(gateway, "/v1/snapshot?resources=stops", [Rounds.ann, Rounds.bob])
            #expect(snapshots.map { $0.text.contains("unreadable-record") } == [true, false])
            #expect(snapshots.allSatisfy { $0.text.contains("\"end\"") })
        }
    }

    @Test(
        "A row with unreadable conditions is listed for clients that read all rows",
        arguments: TestEngine.allCases)
    func unreadableConditions(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        try await database.run(Self.badDate(kind, "stops", "due"))
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together
        ) { gateway async throws in
            for (client, ids) in [(Rounds.boss, [1, 2, 3, 4, 5]), (Rounds.ann, [2]), (Rounds.eve, [2, 5])] {
                let page = try await gateway.get("/v1/records/stops", as: client)
                let records = try page.json()["records"]?.array ?? []
                #expect(records.compactMap { $0["id"]?.int } == ids, "\(client.name): \(page.text)")
                let bad = records.filter { $0["problem"]?["code"]?.text == "unreadable-record" }
                #expect(bad.compactMap { $0["id"]?.int } == ids.filter { $0 == 1 }, "\(client.name): \(page.text)")
                let snapshot = try await gateway.get("/v1/snapshot?resources=stops", as: client)
                let lines = try snapshot.text.split(separator: "\n").map { try JSON(String($0)) }
                #expect(lines.compactMap { $0["id"]?.int } == ids, "\(client.name): \(snapshot.text)")
                #expect(lines.last?["end"]?["records"]?.int == ids.count, "\(client.name): \(snapshot.text)")
            }
        }
    }

    private static func badDate(_ kind: TestEngine, _ table: String, _ column: String) -> String {
        kind == .mariadb
            ? "SET sql_mode = 'ALLOW_INVALID_DATES'; UPDATE \(table) SET \(column) = '2026-02-31' WHERE id = 1;"
            : "UPDATE \(table) SET \(column) = CAST(x'e4' AS TEXT) WHERE id = 1;"
    }

    @Test("A client gets its record with an unreadable link as unreadable", arguments: TestEngine.allCases)
    func unreadableLink(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE shifts (id INTEGER PRIMARY KEY, area INTEGER NOT NULL, day DATE, name VARCHAR(20));
            CREATE TABLE notes (id INTEGER PRIMARY KEY, day DATE, title VARCHAR(20));
            INSERT INTO shifts VALUES (1, 1, '2026-02-01', 'early'), (2, 1, '2026-02-02', 'late');

            """
        let rules = [
            "shifts.yaml": """
            resource: shifts
            sections:
              shift: {table: shifts, groups: {name: name}}
              notes: {table: notes, list: true, parent: {day: day}, groups: {title: title}}
            access:
              clerk: {read: all, rows: {area: {claim: area}}}
            """
        ]
        let own = Rounds.Client("own", ["clerk"], claims: #"{"area": 1}"#)
        let other = Rounds.Client("other", ["clerk"], claims: #"{"area": 2}"#)
        let broken = sql + Self.badDate(kind, "shifts", "day")
        let database = try await TestDatabase(kind, mariadb: broken, sqlite: broken)
        try await RunningGateway.with(
            database, rules: rules, tokens: own.line + "\n" + other.line, journal: .together
        ) { gateway async throws in
            #expect(try await Self.answers(gateway, "/v1/records/shifts/1", [own, other]).map(\.status) == [422, 404])
            for path in ["/v1/records/shifts", "/v1/snapshot?resources=shifts"] {
                let answers = try await Self.answers(gateway, path, [own, other])
                #expect(answers.map { $0.text.contains("unreadable-record") } == [true, false], "\(answers[0].text)")
                #expect(answers.map { $0.text.contains("late") } == [true, false], "\(answers[0].text)")
            }
        }
    }

    private static func answers(
        _ gateway: RunningGateway, _ path: String, _ clients: [Rounds.Client]
    ) async throws -> [HTTPClient.Answer] {
        var answers: [HTTPClient.Answer] = []
        for client in clients { answers.append(try await gateway.get(path, as: client)) }
        return answers
    }
}
