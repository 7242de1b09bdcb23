import Testing
import TestSupport

/// Changes as clients of different rows see them.
@Suite(.timeLimit(.minutes(5))) struct AccessFeedTests {
    /// A client that follows the feed.
    final class Follower {
        let client: Rounds.Client
        let gateway: RunningGateway
        private let resource: String
        var feed = ""
        var revision = 0
        /// Records by their ids, as the client knows them.
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

        /// Asks for what has changed; returns the ids that are named, those that are gone as negative numbers.
        ///
        /// - Parameters:
        ///   - seconds: the time that the gateway waits for news, where there are none.
        ///   - limit: asks for one page of so many changes, and leaves the others.
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

    /// Waits until everything that was acknowledged is in the feed: the answer to a sync waits for its own changes.
    static func settle(_ gateway: RunningGateway) async throws {
        _ = try await gateway.post("/v1/sync", "{}", as: Rounds.boss)
    }

    @Test(arguments: TestEngine.allCases) func aRecordThatLeavesIsGoneOnce(_ kind: TestEngine) async throws {
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
            // There and back again between two looks.
            try await Self.move(1, 3, 2, gateway)
            try await Self.move(1, 2, 3, gateway)
            #expect(try await bob.poll() == [1])
            #expect(try await ann.poll() == [-1])
            #expect(try await ann.poll() == [])
        }
    }

    /// A record that left a client changes again while the client reads page by page: the change that took it has moved
    /// on, and is told all the same.
    @Test(arguments: TestEngine.allCases) func whatLeftBetweenTwoPagesIsGone(_ kind: TestEngine) async throws {
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
            // The move stands before the title of 2, the title of 1 behind it.
            #expect(try await ann.poll(limit: 1) == [-1])
            try await title(1, "d")
            #expect(try await ann.poll(limit: 1) == [2])
            #expect(try await ann.poll() == [])
            #expect(ann.records.keys.sorted() == [2])
            #expect(try await late.poll() == [2, -1])
            #expect(try await late.poll() == [])
            // To whom it came, it is told where it changed last.
            #expect(try await bob.poll() == [1])
            // Whoever came later never saw it.
            try await Self.move(1, 3, 4, gateway)
            try await Self.move(1, 4, 5, gateway)
            #expect(try await ann.poll() == [])
            #expect(try await bob.poll() == [-1])
        }
    }

    @Test(arguments: TestEngine.allCases) func othersAreNotNamed(_ kind: TestEngine) async throws {
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

    /// The column that a condition looks at may be written through another resource over the same table.
    @Test(arguments: TestEngine.allCases) func anotherResourceMovesThem(_ kind: TestEngine) async throws {
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

    /// Other programs move rows as well, and who could see them stands in the marks.
    @Test(arguments: TestEngine.allCases) func otherProgramsMoveThem(_ kind: TestEngine) async throws {
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

    /// Other programs change items of records, and move them; records that a client never saw are not named.
    @Test(arguments: TestEngine.allCases) func otherProgramsChangeItemsOfOthers(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together, configure: ScanFixture.configure
        ) { gateway in
            try await gateway.client { try await $0.hasScanned() }
            let boss = try await Follower(Rounds.boss, gateway)
            let ann = try await Follower(Rounds.ann, gateway)
            func expect(_ ids: Set<Int>, _ seen: [Int], after sql: String) async throws {
                try await database.run(sql)
                var told: Set<Int> = []
                let end = ContinuousClock.now + .seconds(60)
                while !ids.isSubset(of: told), ContinuousClock.now < end {
                    told.formUnion(try await boss.poll(waiting: 5))
                }
                #expect(told == ids, "\(sql)")
                #expect(try await ann.poll().sorted() == seen, "\(sql)")
            }
            try await expect([3], [], after: "INSERT INTO parcels (id, stop_id, label) VALUES (4, 3, 'D');")
            try await expect([4], [], after: "INSERT INTO marks (stop_id, remark) VALUES (4, 'R4');")
            try await expect([5, 1], [1], after: "UPDATE parcels SET stop_id = 5 WHERE id = 2;")
            try await expect([5], [], after: "DELETE FROM parcels WHERE id = 2;")
            // It has items when it becomes another's, and when it is gone.
            try await expect([1], [-1], after: "UPDATE stops SET area = 3 WHERE id = 1;")
            try await expect([1], [], after: "UPDATE parcels SET label = 'Z' WHERE id = 1;")
            #expect(ann.records.keys.sorted() == [2])
        }
    }

    /// A row that was another's while a snapshot came by is whose it was before the scan comes by.
    @Test(arguments: TestEngine.allCases) func whatASnapshotDidNotShowIsTold(_ kind: TestEngine) async throws {
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
            // Rows that a client does not see were not missed by it.
            #expect(try await Set(boss.poll()) == [3])
        }
    }

    /// The end of what a page has shown, before the scan has come by.
    enum End: String, CaseIterable {
        case movedBack = "UPDATE stops SET area = 3 WHERE id = 3;"
        case deleted = """
            DELETE FROM marks WHERE stop_id = 3; DELETE FROM parcels WHERE stop_id = 3; DELETE FROM stops WHERE id = 3;
            """
        /// And a push changes the record, before the scan too.
        case movedBackAndPushed = "UPDATE stops SET area = 3 WHERE id = 3; UPDATE depots SET name = name;"
    }

    /// A page of changes shows a record as it stands, of which no revision knows yet that the client may see it; it is gone
    /// for the client before the scan comes by.
    @Test(arguments: TestEngine.allCases, End.allCases) func whatAPageShowedIsToldWhenItIsGone(
        _ kind: TestEngine, _ way: End
    ) async throws {
        let database = try await Rounds.database(kind)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together, configure: ScanFixture.configure
        ) { gateway in
            try await gateway.client { try await $0.hasScanned() }
            let (ann, boss) = (try await Follower(Rounds.ann, gateway), try await Follower(Rounds.boss, gateway))
            let end = ContinuousClock.now + .seconds(60)
            // The feed knows of the record, and that it has always been another's.
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

    /// A client that sees other rows than before has another feed.
    @Test(arguments: TestEngine.allCases) func otherClaimsAreAnotherFeed(_ kind: TestEngine) async throws {
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

    /// Random moves, and clients that read page by page and never reach the end: in the end each knows exactly its own
    /// rows.
    @Test(arguments: TestEngine.allCases, 0..<4) func whoeverLagsEndsWithItsOwnRows(
        _ kind: TestEngine, _ seed: Int
    ) async throws {
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

    /// Random moves, and clients that look now and then: each knows exactly its own rows, and nobody is told an id that
    /// it could not have seen since it last looked.
    @Test(arguments: TestEngine.allCases, 0..<4) func randomMovesAreSeenByWhomTheyConcern(
        _ kind: TestEngine, _ seed: Int
    ) async throws {
        try await Rounds.with(kind) { gateway in
            var random = SeededRandom(seed: seed)
            let clients = [Rounds.ann, Rounds.bob, Rounds.lee]
            let areas: [String: Set<Int>] = ["ann": [1, 2], "bob": [3], "lee": [1]]
            var followers: [Follower] = []
            for client in clients { followers.append(try await Follower(client, gateway)) }
            var standing: [Int: Int] = [1: 1, 2: 2, 3: 3, 5: 3]
            // The ids that each client could have seen since it last looked; lee also sees by owner.
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
                    #expect(seen[name]?.contains(abs(id)) == true, "seed \(seed): \(name) is told \(id)")
                }
                let expected = standing.keys.filter { isShown($0, name) }.sorted()
                #expect(follower.records.keys.sorted() == expected, "seed \(seed): \(name)")
                seen[name] = Set(expected)
            }
        }
    }
}
