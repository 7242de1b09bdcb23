import Testing
import TestSupport

/// Changes for clients that read different rows.
@Suite(.timeLimit(.minutes(5))) struct AccessFeedTests {
    /// A client that follows the feed.
    final class Follower {
        let client: Rounds.Client
        let gateway: RunningGateway
        private let resource: String
        var feed = ""
        var revision = 0
        /// The client's copies by id.
        var records: [Int: JSON] = [:]

        init(_ client: Rounds.Client, _ gateway: RunningGateway, of resource: String = "stops") async throws {
            self.client = client
            self.gateway = gateway
            self.resource = resource
            let snapshot = try await gateway.get("/v1/snapshot?resources=\(resource)", as: client).text
            for line in snapshot.split(separator: "\n") {
                let line = try JSON(String(line))
                if let head = line["snapshot"] {
                    feed = head["feed"]?.text ?? ""
                    revision = head["revision"]?.int ?? 0
                }
                if let id = line["id"]?.int { records[id] = line["record"] }
            }
        }

        /// Requests changes, and returns the ids of the reported records.
        ///
        /// Ids of missing records are negative.
        ///
        /// - Parameters:
        ///   - seconds: how long the gateway waits if there are no changes.
        ///   - limit: requests one page with so many changes.
        func poll(waiting seconds: Int = 0, limit: Int? = nil) async throws -> [Int] {
            var named: [Int] = []
            var more = true
            while more {
                let page = try await gateway.get(
                    "/v1/changes?since=\(revision)&feed=\(feed)&resources=\(resource)&wait=\(seconds)"
                        + (limit.map { "&limit=\($0)" } ?? ""), as: client
                ).json()
                try #require(page["changes"] != nil, "\(page)")
                for change in page["changes"]?.array ?? [] {
                    let id = change["id"]?.int ?? 0
                    let record = change["record"].flatMap { $0.isNull ? nil : $0 }
                    records[id] = record
                    named.append(record == nil ? -id : id)
                }
                revision = page["revision"]?.int ?? 0
                more = limit == nil && page["more"]?.bool ?? false
            }
            return named
        }
    }

    private static func move(_ id: Int, _ from: Int, _ to: Int, _ gateway: RunningGateway) async throws {
        let answer = try await gateway.merge(
            "\(id)", #"{"stop": {"area": {"old": \#(from), "new": \#(to)}}}"#, as: Rounds.boss)
        #expect(answer.status == 200, "\(answer.text)")
        try await settle(gateway)
    }

    /// Waits until all acknowledged changes are in the feed, by a sync, which waits for them.
    static func settle(_ gateway: RunningGateway) async throws {
        _ = try await gateway.post("/v1/sync", "{}", as: Rounds.boss)
    }

    @Test("A departure is reported once", arguments: TestEngine.allCases)
    func departure(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let ann = try await Follower(Rounds.ann, gateway)
            let bob = try await Follower(Rounds.bob, gateway)
            #expect(ann.records.keys.sorted() == [1, 2] && bob.records.keys.sorted() == [3, 5])
            try await Self.move(1, 1, 3, gateway)
            #expect(try await ann.poll() == [-1])
            #expect(try await bob.poll() == [1])
            _ = try await gateway.merge("1", #"{"stop": {"title": {"old": "One", "new": "Uno"}}}"#, as: Rounds.boss)
            try await Self.settle(gateway)
            #expect(try await ann.poll() == [])
            #expect(try await bob.poll() == [1])
            // The value changes and returns between two checks.
            try await Self.move(1, 3, 2, gateway)
            try await Self.move(1, 2, 3, gateway)
            #expect(try await bob.poll() == [1])
            #expect(try await ann.poll() == [-1])
            #expect(try await ann.poll() == [])
        }
    }

    /// The record changes again after its departure, while the client reads page by page.
    @Test("A departure between two pages is reported", arguments: TestEngine.allCases)
    func betweenPages(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let ann = try await Follower(Rounds.ann, gateway)
            let late = try await Follower(Rounds.ann, gateway)
            let bob = try await Follower(Rounds.bob, gateway)
            func title(_ id: Int, _ new: String) async throws {
                let answer = try await gateway.merge(
                    "\(id)", #"{"stop": {"title": {"old": null, "new": "\#(new)"}}}"#, as: Rounds.boss)
                #expect(answer.status == 200, "\(answer.text)")
                try await Self.settle(gateway)
            }
            try await Self.move(1, 1, 3, gateway)
            try await title(2, "a")
            try await title(2, "b")
            try await title(1, "c")
            // The move is before the title of 2, and the title of 1 after it.
            #expect(try await ann.poll(limit: 1) == [-1])
            try await title(1, "d")
            #expect(try await ann.poll(limit: 1) == [2])
            #expect(try await ann.poll() == [])
            #expect(ann.records.keys.sorted() == [2])
            #expect(try await late.poll() == [2, -1])
            #expect(try await late.poll() == [])
            // The new reader gets the record at its last change.
            #expect(try await bob.poll() == [1])
            // A client that starts later has never read the record.
            try await Self.move(1, 3, 4, gateway)
            try await Self.move(1, 4, 5, gateway)
            #expect(try await ann.poll() == [])
            #expect(try await bob.poll() == [-1])
        }
    }

    @Test("Records of others are not reported", arguments: TestEngine.allCases)
    func otherRecords(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let ann = try await Follower(Rounds.ann, gateway)
            let kim = try await Follower(Rounds.kim, gateway)
            let before = ann.revision
            _ = try await gateway.merge("3", #"{"stop": {"title": {"old": "Three", "new": "x"}}}"#, as: Rounds.boss)
            _ = try await gateway.merge("5", #"{"stop": {"old": {"title": "Five"}, "new": null}}"#, as: Rounds.boss)
            _ = try await gateway.merge(
                #""tmp:n""#, #"{"stop": {"old": null, "new": {"area": 3, "owner": "zed"}}}"#, as: Rounds.boss)
            try await Self.settle(gateway)
            #expect(try await ann.poll() == [])
            #expect(ann.revision > before)
            #expect(try await kim.poll() == [3])
            _ = try await gateway.merge("1", #"{"stop": {"old": {"title": "One"}, "new": null}}"#, as: Rounds.boss)
            try await Self.settle(gateway)
            #expect(try await ann.poll() == [-1])
            #expect(try await kim.poll() == [-1])
        }
    }

    /// Another resource over the same table may write the column that a condition tests.
    @Test("Moves through another resource are reported", arguments: TestEngine.allCases)
    func otherResource(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        let other = """
            resource: yards
            sections: {yard: {table: stops, client-keys: allow, groups: {area: area}}}
            """
        try await RunningGateway.with(
            database, rules: Rounds.rules.merging(["yards.yaml": other]) { $1 }, tokens: Rounds.tokens,
            journal: .together
        ) { gateway in
            let ann = try await Follower(Rounds.ann, gateway)
            let bob = try await Follower(Rounds.bob, gateway)
            let eve = try await Follower(Rounds.eve, gateway)
            let moved = try await gateway.post(
                "/v1/merge/yards", #"{"id": 1, "changeset": {"yard": {"area": {"old": 1, "new": 3}}}}"#, as: Rounds.max)
            #expect(moved.status == 200, "\(moved.text)")
            try await Self.settle(gateway)
            #expect(try await ann.poll() == [-1])
            #expect(try await bob.poll() == [1])
            #expect(try await eve.poll() == [1])
            _ = try await gateway.post(
                "/v1/merge/yards", #"{"id": 2, "changeset": {"yard": {"old": {"area": 2}, "new": null}}}"#,
                as: Rounds.max)
            try await Self.settle(gateway)
            #expect(try await ann.poll() == [-2])
            #expect(try await bob.poll() == [])
        }
    }

    /// Other programs also move rows.
    ///
    /// The row digests contain the values of the conditions.
    @Test("Moves by other programs are reported", arguments: TestEngine.allCases)
    func otherPrograms(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together, configure: ScanFixture.configure
        ) { gateway in
            try await gateway.client { try await $0.hasScanned() }
            let ann = try await Follower(Rounds.ann, gateway)
            let bob = try await Follower(Rounds.bob, gateway)
            func news(_ follower: Follower) async throws -> [Int] {
                let end = ContinuousClock.now + .seconds(60)
                while ContinuousClock.now < end {
                    let named = try await follower.poll(waiting: 5)
                    if !named.isEmpty { return named }
                }
                return []
            }
            try await database.run("UPDATE stops SET area = 3 WHERE id = 1;")
            #expect(try await news(bob) == [1])
            #expect(try await news(ann) == [-1])
            try await database.run("UPDATE stops SET title = 'Uno' WHERE id = 1;")
            #expect(try await news(bob) == [1])
            #expect(try await ann.poll() == [])
        }
    }

    /// Other programs change and move items of records.
    @Test("Changes of items are not reported for records that a client never read", arguments: TestEngine.allCases)
    func foreignItems(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together, configure: ScanFixture.configure
        ) { gateway in
            try await gateway.client { try await $0.hasScanned() }
            let boss = try await Follower(Rounds.boss, gateway)
            let ann = try await Follower(Rounds.ann, gateway)
            func expect(_ ids: Set<Int>, _ seen: [Int], after sql: String) async throws {
                try await database.run(sql)
                var reported: Set<Int> = []
                let end = ContinuousClock.now + .seconds(60)
                while !ids.isSubset(of: reported), ContinuousClock.now < end {
                    reported.formUnion(try await boss.poll(waiting: 5))
                }
                #expect(reported == ids, "\(sql)")
                #expect(try await ann.poll().sorted() == seen, "\(sql)")
            }
            try await expect([3], [], after: "INSERT INTO parcels (id, stop_id, label) VALUES (4, 3, 'D');")
            try await expect([4], [], after: "INSERT INTO marks (stop_id, remark) VALUES (4, 'R4');")
            try await expect([5, 1], [1], after: "UPDATE parcels SET stop_id = 5 WHERE id = 2;")
            try await expect([5], [], after: "DELETE FROM parcels WHERE id = 2;")
            // The record has items when its owner changes, and when it is deleted.
            try await expect([1], [-1], after: "UPDATE stops SET area = 3 WHERE id = 1;")
            try await expect([1], [], after: "UPDATE parcels SET label = 'Z' WHERE id = 1;")
            #expect(ann.records.keys.sorted() == [2])
        }
    }

    /// During the snapshot the row belongs to another area.
    ///
    /// It is moved back before the scan reads it.
    @Test("A record that was hidden during the snapshot is reported", arguments: TestEngine.allCases)
    func missingInSnapshot(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together, configure: ScanFixture.configure
        ) { gateway in
            try await gateway.client { try await $0.hasScanned() }
            let boss = try await Follower(Rounds.boss, gateway)
            let scan = try await ScanHold(database)
            try await database.run("UPDATE stops SET area = 1 WHERE id = 3;")
            let bob = try await Follower(Rounds.bob, gateway)
            #expect(bob.records.keys.sorted() == [5])
            let ann = try await Follower(Rounds.ann, gateway)
            #expect(ann.records.keys.sorted() == [1, 2, 3])
            try await database.run("UPDATE stops SET area = 3 WHERE id = 3;")
            try await scan.end()
            let end = ContinuousClock.now + .seconds(60)
            while bob.records[3] == nil || ann.records[3] != nil, ContinuousClock.now < end {
                _ = try await (bob.poll(waiting: 1), ann.poll())
            }
            #expect(bob.records.keys.sorted() == [3, 5])
            #expect(ann.records.keys.sorted() == [1, 2])
            // Rows that a client may not read are not missing for it.
            #expect(try await Set(boss.poll()) == [3])
        }
    }

    /// How a record departs after a page, before the scan reads it.
    enum End: String, CaseIterable {
        case movedBack = "UPDATE stops SET area = 3 WHERE id = 3;"
        case deleted = """
            DELETE FROM marks WHERE stop_id = 3; DELETE FROM parcels WHERE stop_id = 3; DELETE FROM stops WHERE id = 3;
            """
        /// And a push changes the record, before the scan too.
        case movedBackAndPushed = "UPDATE stops SET area = 3 WHERE id = 3; UPDATE depots SET name = name;"
    }

    /// No revision reports that the client may read the record.
    ///
    /// It departs before the scan reads it.
    @Test(
        "A record that only a page contained is reported when it departs", arguments: TestEngine.allCases, End.allCases)
    func shownInPage(_ kind: TestEngine, _ way: End) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together, configure: ScanFixture.configure
        ) { gateway in
            try await gateway.client { try await $0.hasScanned() }
            let (ann, boss) = (try await Follower(Rounds.ann, gateway), try await Follower(Rounds.boss, gateway))
            let end = ContinuousClock.now + .seconds(60)
            // In the feed, the record belongs to another area.
            try await database.run("UPDATE stops SET title = 'Drei' WHERE id = 3;")
            while boss.records[3]?["stop"]?["title"]?.text != "Drei", ContinuousClock.now < end {
                _ = try await boss.poll(waiting: 1)
            }
            let scan = try await ScanHold(database)
            try await database.run("UPDATE stops SET area = 1 WHERE id = 3;")
            #expect(try await ann.poll() == [3])
            try await database.run(way.rawValue)
            if way == .movedBackAndPushed {
                let push = #"{"stop": {"title": {"old": "Drei", "new": "Three"}}}"#
                #expect(try await gateway.merge("3", push, as: Rounds.boss).status == 200)
                try await Self.settle(gateway)
            }
            try await scan.end()
            while ann.records[3] != nil, ContinuousClock.now < end { _ = try await ann.poll(waiting: 1) }
            #expect(ann.records.keys.sorted() == [1, 2])
            _ = try await boss.poll()
            #expect(boss.records[3]?["stop"]?["area"]?.int == (way == .deleted ? nil : 3))
        }
    }

    @Test("Other claims have another feed", arguments: TestEngine.allCases)
    func otherClaims(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let ann = try await Follower(Rounds.ann, gateway)
            let bob = try await Follower(Rounds.bob, gateway)
            #expect(ann.feed != bob.feed)
            let answer = try await gateway.get(
                "/v1/changes?since=\(ann.revision)&feed=\(ann.feed)", as: Rounds.bob)
            #expect(answer.status == 410, "\(answer.text)")
            #expect(try answer.json()["feed"]?.text == bob.feed)
            let sync = try await gateway.post(
                "/v1/sync", #"{"since": \#(bob.revision), "feed": "\#(bob.feed)", "resources": ["stops"]}"#,
                as: Rounds.bob)
            #expect(sync.status == 200, "\(sync.text)")
            let denied = try await gateway.post("/v1/sync", #"{"resources": ["depots"]}"#, as: Rounds.kim)
            #expect(denied.status == 403 && denied.text.contains("no-right"), "\(denied.text)")
        }
    }

    /// Random moves, and clients that read page by page and never reach the end.
    @Test("A client that is always late has exactly its rows in the end", arguments: TestEngine.allCases, 0..<4)
    func lateClients(_ kind: TestEngine, _ seed: Int) async throws {
        try await Rounds.with(kind) { gateway in
            var random = SeededRandom(seed: seed)
            var followers: [Follower] = []
            for client in [Rounds.ann, Rounds.bob, Rounds.lee, Rounds.ann] {
                followers.append(try await Follower(client, gateway))
            }
            for _ in 0..<150 {
                let id = [1, 2, 3, 5].randomElement(using: &random) ?? 1
                let group = [
                    #""area": {"old": 0, "new": \#(Int.random(in: 1...(seed % 2 == 0 ? 4 : 30), using: &random))}"#,
                    #""title": {"old": "?", "new": "\#(Int.random(in: 0...99, using: &random))"}"#,
                ]
                let answer = try await gateway.merge(
                    "\(id)", #"{"stop": {\#(group.randomElement(using: &random) ?? "")}}"#, as: Rounds.boss)
                #expect(answer.status == 200, "\(answer.text)")
                if Int.random(in: 0..<3, using: &random) > 0 { continue }
                try await Self.settle(gateway)
                _ = try await followers.randomElement(using: &random)?.poll(
                    limit: Int.random(in: 1...2, using: &random))
            }
            try await Self.settle(gateway)
            for follower in followers {
                _ = try await follower.poll()
                let whole = try await Follower(follower.client, gateway)
                #expect(follower.records == whole.records, "seed \(seed): \(follower.client.name)")
            }
        }
    }

    /// Random moves, and clients that poll now and then.
    ///
    /// Each has exactly its rows, and gets no id that it could not have read since its last poll.
    @Test("Random moves are reported to the clients concerned", arguments: TestEngine.allCases, 0..<4)
    func randomMoves(_ kind: TestEngine, _ seed: Int) async throws {
        try await Rounds.with(kind) { gateway in
            var random = SeededRandom(seed: seed)
            let clients = [Rounds.ann, Rounds.bob, Rounds.lee]
            let areas: [String: Set<Int>] = ["ann": [1, 2], "bob": [3], "lee": [1]]
            var followers: [Follower] = []
            for client in clients { followers.append(try await Follower(client, gateway)) }
            var standing: [Int: Int] = [1: 1, 2: 2, 3: 3, 5: 3]
            // The ids that each client could have read since its last poll. Lee also reads by owner.
            var seen: [String: Set<Int>] = [:]
            let owned: Set<Int> = [2, 3]
            func isShown(_ id: Int, _ name: String) -> Bool {
                guard let area = standing[id] else { return false }
                return areas[name]?.contains(area) == true || (name == "lee" && owned.contains(id))
            }
            func note() {
                for client in clients {
                    seen[client.name, default: []].formUnion(standing.keys.filter { isShown($0, client.name) })
                }
            }
            note()
            for _ in 0..<40 {
                let id = [1, 2, 3, 5].randomElement(using: &random) ?? 1
                if let area = standing[id] {
                    let next = Int.random(in: 1...4, using: &random)
                    if next == area { continue }
                    let answer = try await gateway.merge(
                        "\(id)", #"{"stop": {"area": {"old": \#(area), "new": \#(next)}}}"#, as: Rounds.boss)
                    #expect(answer.status == 200, "\(answer.text)")
                    standing[id] = next
                }
                note()
                guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                try await Self.settle(gateway)
                let follower = followers[Int.random(in: 0..<followers.count, using: &random)]
                let named = try await follower.poll()
                let name = follower.client.name
                for id in named {
                    #expect(seen[name]?.contains(abs(id)) == true, "seed \(seed): \(name) got \(id)")
                }
                let expected = standing.keys.filter { isShown($0, name) }.sorted()
                #expect(follower.records.keys.sorted() == expected, "seed \(seed): \(name)")
                seen[name] = Set(expected)
            }
        }
    }
}
