import Foundation
import Testing
import TestSupport

/// Changes by programs that bypass the gateway are in the feed.
@Suite struct ForeignTests {
    @Test("Changes by other programs are reported", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func changes(_ kind: TestEngine, _ place: JournalPlace) async throws {
        try await ScanFixture.with(kind, place) { gateway async throws in
            try await gateway.client { client async throws in
                var position = try await client.position()
                #expect(position.revision == 1, "the first pass only stores digests")
                let database = gateway.database
                func reported(_ sql: String, _ names: Set<String>) async throws -> [JSON] {
                    try await database.run(sql)
                    let found = try await client.changes(after: position, until: names)
                    position = found.position
                    #expect(Set(found.changes.map(\.name)) == names, "\(sql)")
                    #expect(found.changes.allSatisfy { $0["by"]?.isNull == true })
                    return found.changes
                }
                _ = try await reported("UPDATE homes SET name = 'z' WHERE id = 1;", ["homes/1"])
                _ = try await reported("INSERT INTO homes (id, name) VALUES (9, 'n');", ["homes/9"])
                // A row of a list is also a record here, and it moves from one home to another.
                let moved = try await reported(
                    "UPDATE things SET home = 2 WHERE id = 1;", ["things/1", "homes/1", "homes/2"])
                #expect(moved.first { $0.name == "homes/2" }?["record"]?["things"]?.array.count == 2)
                _ = try await reported("UPDATE things SET id = 11 WHERE id = 2;", ["things/2", "things/11", "homes/1"])
                let hidden = try await reported("UPDATE homes SET hidden = 1 WHERE id = 9;", ["homes/9"])
                #expect(hidden.first?["record"]?.isNull == true)
                // By the cascade the rooms are deleted, and their doors have no room.
                let cascade = try await reported(
                    "PRAGMA_ON DELETE FROM homes WHERE id = 3;".replacingOccurrences(
                        of: "PRAGMA_ON", with: kind == .sqlite ? "PRAGMA foreign_keys = ON;" : ""),
                    ["homes/3", "rooms/1", "rooms/2"])
                #expect(cascade.allSatisfy { $0["record"]?.isNull == true })
                #expect(try await client.metric("fieldmerge_scan_changes_total") >= 10)
            }
        }
    }

    @Test("A push is reported once, as a push, though the scan reads its rows", arguments: TestEngine.allCases)
    func pushesOnce(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let position = try await client.position()
                for number in 0..<5 {
                    _ = try await client.push(FeedFixture.edit("things", 1, "home", "9", "\(number % 3 + 1)"))
                    _ = try await client.push(
                        #"{"resource":"rooms","id":3,"changeset":{"room":{"name":{"old":"?","new":"r\#(number)"}}}}"#)
                    _ = try await client.push(
                        #"{"resource":"rooms","id":-1,"changeset":{"room":{"old":null,"new":{"name":"n"}}}}"#)
                    // A client reads the changes in between.
                    _ = try await client.changes(after: position)
                }
                _ = try await client.push(
                    #"{"resource":"homes","id":3,"changeset":{"home":{"old":{"name":"?"},"new":null}}}"#)
                _ = try await client.changes(after: position)
                for name in ["x", "y", "z"] {
                    let before = try await client.position()
                    try await gateway.database.run("UPDATE doors SET name = '\(name)' WHERE id = 2;")
                    let reported = try await client.changes(after: before, until: ["doors/2"]).changes
                    #expect(reported.map(\.name) == ["doors/2"])
                }
                let all = try await client.changes(after: position)["changes"]?.array ?? []
                #expect(all.filter { $0["by"]?.isNull == true }.map(\.name) == ["doors/2"])
            }
        }
    }

    @Test("The history of a record reports that another program has changed it since", arguments: TestEngine.allCases)
    func journal(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let journal = gateway.database
                let position = try await client.position()
                try await journal.run("UPDATE doors SET name = 'q' WHERE id = 1;")
                _ = try await client.changes(after: position, until: ["doors/1"])
                let rules = try TemporaryFolder(files: FeedFixture.rules)
                func history(_ id: String) async throws -> String {
                    let run = try await Shell.capture([
                        GatewayProcess.program, "journal", "list", "--database", journal.url, "--journal",
                        journal.journalURL, "--rules", rules.path, "--resource", "doors", "--id", id,
                    ])
                    try #require(run.status == 0, "\(run.errors)")
                    return run.errors
                }
                #expect(try await history("1").contains("another program has changed this record since"))
                #expect(try await history("2").contains("another program") == false)
            }
        }
    }

    @Test(
        "The digest of a row is stored together with its change, so a change that cannot be stored is reported later",
        arguments: TestEngine.allCases)
    func digestsWithChanges(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let database = gateway.database
                let position = try await client.position()
                let (make, drop) =
                    kind == .mariadb
                    ? (
                        "CREATE TRIGGER full BEFORE INSERT ON pending FOR EACH ROW SIGNAL SQLSTATE '45000';",
                        "DROP TRIGGER full;"
                    )
                    : (
                        "CREATE TRIGGER full BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'full'); END;",
                        "DROP TRIGGER full;"
                    )
                try await database.runOnJournal(make)
                try await database.run("UPDATE doors SET name = 'kept' WHERE id = 1;")
                // The scan stops with an error, and starts again.
                let end = ContinuousClock.now + .seconds(60)
                while try await client.metric("fieldmerge_scan_failures_total") == 0 {
                    try #require(.now < end)
                    try await Task.sleep(for: .milliseconds(20))
                }
                try await database.runOnJournal(drop)
                let reported = try await client.changes(after: position, until: ["doors/1"]).changes
                #expect(reported.map(\.name) == ["doors/1"])
            }
        }
    }

    @Test("Changes while no gateway runs are reported after a start", arguments: TestEngine.allCases)
    func restart(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        let place = Kept<(feed: String, revision: Int)>()
        try await ScanFixture.run(on: database) { gateway async throws in
            try await gateway.client { client async throws in await place.keep(try await client.position()) }
        }
        try await database.run("UPDATE homes SET name = 'later' WHERE id = 2; DELETE FROM things WHERE id = 4;")
        let position = try #require(await place.value)
        try await ScanFixture.run(on: database) { gateway async throws in
            try await gateway.client { client async throws in
                let reported = try await client.changes(after: position, until: ["homes/2", "things/4"]).changes
                #expect(Set(reported.map(\.name)) == ["homes/2", "things/4"])
            }
        }
    }

    /// A gateway that is stopped leaves the scan to the next one at once, which need not wait for its lease to end.
    @Test("An unchanged file is checked again and again")
    func unchangedFile() async throws {
        try await ScanFixture.with(.sqlite) { gateway async throws in
            func checked() async throws -> Int {
                try #require(
                    Int(try await gateway.database.runOnJournal("SELECT noticed FROM scan;").filter(\.isNumber)))
            }
            let first = try await checked()
            let end = ContinuousClock.now + .seconds(60)
            while try await checked() < first + 3 {
                try #require(.now < end, "the file was not checked again")
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    @Test("A gateway that stops releases the lease", arguments: TestEngine.allCases)
    func lease(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        let holders = "SELECT count(*), count(holder) FROM scan;"
        try await ScanFixture.run(on: database) { _ async throws in
            #expect(try await database.runOnJournal(holders) == "1\t1\n")
        }
        #expect(try await database.runOnJournal(holders) == "1\t0\n")
    }

    /// The stored answer has the values of its time.
    ///
    /// The feed then sends the client the current ones.
    @Test("A stored answer counts as a delivery", arguments: TestEngine.allCases, [false, true])
    func storedAnswer(_ kind: TestEngine, _ isSync: Bool) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let database = gateway.database
                let position = try await client.position()
                try await database.run("UPDATE things SET name = 'B' WHERE id = 1;")
                let reported = try await client.changes(after: position, until: ["things/1", "homes/1"])
                let push =
                    #"{"key":"k","edits":[{"resource":"things","id":1,"changeset":{"thing":{"name":{"old":"B","new":"B"}}}}]}"#
                func answer() async throws -> JSON? {
                    let answer = try await client.post(
                        isSync ? "/v1/sync" : "/v1/push", isSync ? #"{"pushes":[\#(push)]}"# : push)
                    #expect(answer.status == 200, "\(answer.text)")
                    let json = try answer.json()
                    return isSync ? json["results"]?[0] : json
                }
                let first = try await answer()
                #expect(first?["results"]?[0]?["record"]?["thing"]?["name"]?.text == "B")
                try await database.run("UPDATE things SET name = 'one' WHERE id = 1;")
                let back = try await client.changes(after: reported.position, until: ["things/1", "homes/1"])
                let again = try await answer()
                #expect(again?["results"]?[0]?["record"]?.description == first?["results"]?[0]?["record"]?.description)
                let last = try await client.changes(after: back.position, until: ["things/1"])
                #expect(last.changes.last { $0.name == "things/1" }?["record"]?["thing"]?["name"]?.text == "one")
                // An answer with the current values is not reported again.
                let rest = try await client.position()
                let other = push.replacingOccurrences(of: "\"B\"", with: "\"one\"").replacingOccurrences(
                    of: "\"k\"", with: "\"l\"")
                for _ in 0..<2 { #expect(try await client.post("/v1/push", other).status == 200) }
                let cycles = try await client.metric("fieldmerge_scan_cycles_total")
                let end = ContinuousClock.now + .seconds(30)
                while kind == .mariadb, try await client.metric("fieldmerge_scan_cycles_total") < cycles + 3 {
                    try #require(.now < end)
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(try await client.changes(after: rest)["changes"]?.array.isEmpty == true)
            }
        }
    }

    @Test(
        "Readiness shows the time since which changes are found, and the number of changes without a revision",
        arguments: TestEngine.allCases)
    func readiness(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let end = ContinuousClock.now + .seconds(30)
                var feed = try await client.get("/readyz").json()["feed"]
                while feed?["since"]?.text == nil || feed?["pending"]?.int != 0 {
                    try #require(.now < end, "\(feed?.description ?? "")")
                    try await Task.sleep(for: .milliseconds(20))
                    feed = try await client.get("/readyz").json()["feed"]
                }
                let since = try #require(feed?["since"]?.text.flatMap { ISO8601DateFormatter().date(from: $0) })
                #expect(abs(since.timeIntervalSinceNow) < 60)
                #expect(try await client.metric("fieldmerge_scan_since_seconds") == Int(since.timeIntervalSince1970))
                #expect(try await client.get("/metrics").text.contains("fieldmerge_feed_pending 0\n"))
            }
        }
    }

    /// The other program restores the value before a scan reads it.
    @Test(
        "A value that was sent and then restored is reported again", arguments: TestEngine.allCases,
        ["changes", "snapshot", "push", "undo"])
    func restoredValue(_ kind: TestEngine, _ way: String) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        try await ScanFixture.run(on: database) { gateway async throws in
            try await gateway.client { client async throws in
                // The scanner cannot read the journal, so it stops while the value is there.
                if way == "undo" {
                    for (old, new) in [("a", "aa"), ("aa", "a")] {
                        _ = try await client.push(
                            #"{"resource":"homes","id":1,"changeset":{"home":{"name":{"old":"\#(old)","new":"\#(new)"}}}}"#
                        )
                    }
                }
                let position = try await client.position()
                let scan = try await ScanHold(database)
                try await database.run("UPDATE things SET name = 'B', home = NULL WHERE id = 1;")
                var since = position
                switch way {
                case "changes":
                    _ = try await client.push(
                        #"{"resource":"homes","id":1,"changeset":{"home":{"name":{"old":"a","new":"aa"}}}}"#)
                    let page = try await client.changes(after: position)
                    #expect(page.names == ["homes/1"])
                    #expect(page["changes"]?[0]?["record"]?["things"]?.array.count == 1)
                    since.revision = page["revision"]?.int ?? 0
                case "snapshot":
                    let text = try await client.get("/v1/snapshot").text
                    #expect(text.contains(#""name":"B""#))
                case "undo":
                    // The row already has the value, so the undo changes nothing, and its answer has the current
                    // record.
                    let answer = try await client.post("/v1/journal/1/undo", "{}")
                    #expect(answer.status == 200, "\(answer.text)")
                    let json = try answer.json()
                    let shown = json["record"] ?? json["results"]?[0]?["record"]
                    #expect(shown?["things"]?.array.count == 1, "\(answer.text)")
                default:
                    let answer = try await client.post(
                        "/v1/push",
                        #"{"edits":[{"resource":"homes","id":1,"changeset":{"things":[{"id":2,"name":{"old":"two","new":"two"}}]}},{"resource":"things","id":1,"changeset":{"thing":{"name":{"old":"B","new":"B"}}}}]}"#
                    )
                    #expect(answer.status == 200, "\(answer.text)")
                }
                try await database.run("UPDATE things SET name = 'one', home = 1 WHERE id = 1;")
                try await scan.end()
                let wanted: Set<String> = ["changes", "undo"].contains(way) ? ["homes/1"] : ["homes/1", "things/1"]
                let reported = try await client.changes(after: since, until: wanted).changes
                #expect(reported.first { $0.name == "homes/1" }?["record"]?["things"]?.array.count == 2)
            }
        }
    }

    /// A snapshot of many records with lists, and pages of changes, have the delivery records that a pass computes.
    @Test("Records that were sent with their current values are not reported", arguments: TestEngine.allCases)
    func deliveries(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        let homes = (10...1_600).map { "(\($0), 'h\($0)')" }.joined(separator: ", ")
        // Some have no things, some have three.
        let things = (10...1_600).flatMap { home in (0..<home % 4).map { "(\(home), 't\($0)')" } }
        try await database.run(
            "INSERT INTO homes (id, name) VALUES \(homes);"
                + "INSERT INTO things (home, name) VALUES \(things.joined(separator: ", "));")
        try await ScanFixture.run(on: database) { gateway async throws in
            try await gateway.client { client async throws in
                let position = try await client.position()
                let scan = try await ScanHold(database)
                for _ in 0..<2 {
                    let lines = try await client.get("/v1/snapshot?resources=homes").text.split(separator: "\n")
                    #expect(lines.count { $0.hasPrefix("{\"resource") } == 1_594)
                }
                // In another order than that of the keys, and things of one home twice.
                for home in [900, 30, 31, 1_600, 30] {
                    _ = try await client.push(
                        FeedFixture.edit("homes", home, "name", "\"?\"", "\"n\(home)\""), atomic: "push")
                }
                let reported = try await client.changes(after: position)
                #expect(Set(reported.names) == ["homes/900", "homes/30", "homes/31", "homes/1600"])
                let before = try await client.position()
                #expect(try await database.runOnJournal("SELECT COUNT(*) FROM shown;") != "0\n")
                try await scan.end()
                let end = ContinuousClock.now + .seconds(60)
                while try await database.runOnJournal("SELECT COUNT(*) FROM shown;") != "0\n" {
                    try #require(ContinuousClock.now < end, "the notes are never compared")
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(try await client.changes(after: before).names == [])
            }
        }
    }

    /// The record is missing during the snapshot only, and unchanged before the scan reads it.
    @Test("A record that was missing in a snapshot is reported", arguments: TestEngine.allCases, Absence.allCases)
    func missedRecords(_ kind: TestEngine, _ absence: Absence) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        try await database.run(absence.before)
        try await ScanFixture.run(on: database) { gateway async throws in
            try await gateway.client { client async throws in
                func snapshot(_ question: String = "") async throws -> [JSON] {
                    try await client.get("/v1/snapshot\(question)").text.split(separator: "\n").map {
                        try JSON(String($0))
                    }
                }
                let cursor = absence == .resumed ? try await snapshot().compactMap { $0["cursor"]?.text }.first : nil
                let scan = try await ScanHold(database)
                try await database.run(absence.gone)
                let lines = try await snapshot(cursor.map { "?after=\($0)" } ?? "")
                #expect(absence.missed.isDisjoint(with: lines.map(\.name)))
                let head = try #require(lines.first?["snapshot"])
                try await database.run(absence.back)
                try await scan.end()
                let position = (feed: head["feed"]?.text ?? "", revision: head["revision"]?.int ?? -1)
                let reported = try await client.changes(after: position, until: absence.missed).changes
                #expect(reported.allSatisfy { $0["record"]?.isNull == false }, "\(reported)")
                #expect(Set(reported.map(\.name)) == absence.missed, "nothing else is reported")
            }
        }
    }

    /// How records can be missing while a snapshot is read.
    enum Absence: String, CaseIterable {
        case hidden, deleted, emptied
        /// The first records, the last ones, and those at the ends of pages.
        case pages
        /// Those of a snapshot that continues after its first page.
        case resumed

        private static let ids = [1, 2, 999, 1_000, 1_001, 2_000, 2_001, 2_199, 2_200]

        var before: String {
            switch self {
            case .hidden, .deleted, .emptied: ""
            case .pages, .resumed:
                "DELETE FROM doors; INSERT INTO doors (id) VALUES "
                    + (1...2_200).map { "(\($0))" }.joined(separator: ", ") + ";"
            }
        }

        var gone: String {
            switch self {
            case .hidden: "UPDATE homes SET hidden = 1 WHERE id = 1;"
            case .deleted: "DELETE FROM doors WHERE id = 2;"
            case .emptied: "DELETE FROM doors;"
            case .pages, .resumed:
                "DELETE FROM doors WHERE id IN (\(Self.ids.map(\.description).joined(separator: ", ")));"
            }
        }

        var back: String {
            switch self {
            case .hidden: "UPDATE homes SET hidden = 0 WHERE id = 1;"
            case .deleted: "INSERT INTO doors VALUES (2, 3, 'back');"
            case .emptied: "INSERT INTO doors VALUES (1, 1, 'front'), (2, 3, 'back');"
            case .pages, .resumed:
                "INSERT INTO doors (id) VALUES " + Self.ids.map { "(\($0))" }.joined(separator: ", ") + ";"
            }
        }

        var missed: Set<String> {
            switch self {
            case .hidden: ["homes/1"]
            case .deleted: ["doors/2"]
            case .emptied: ["doors/1", "doors/2"]
            case .pages: Set(Self.ids.map { "doors/\($0)" })
            // The first page was sent before their deletion.
            case .resumed: Set(Self.ids.filter { $0 > 1_000 }.map { "doors/\($0)" })
            }
        }
    }
}
