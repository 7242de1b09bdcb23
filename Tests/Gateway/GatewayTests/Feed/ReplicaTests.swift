import Testing
import TestSupport

/// A client that follows the feed has a copy of the database, whatever the order of writes and requests.
@Suite struct ReplicaTests {
    /// Records as a client keeps them.
    private struct Replica {
        var feed = ""
        var revision = 0
        /// nil for all.
        var resources: [String]?
        var records: [String: String] = [:]

        static func name(_ change: JSON) -> String {
            "\(change["resource"]?.text ?? "")/\(change["id"].map(\.description) ?? "")"
        }

        mutating func take(_ page: JSON) throws {
            let revision = page["revision"]?.int ?? -1
            try #require(revision >= self.revision, "a revision never falls")
            var last = self.revision
            var seen: Set<String> = []
            for change in page["changes"]?.array ?? [] {
                let own = change["revision"]?.int ?? -1
                try #require(own > last && own <= revision, "changes come in the order of their revisions")
                try #require(seen.insert(Self.name(change)).inserted, "a page has a record twice")
                last = own
                let record = change["record"]
                records[Self.name(change)] = record?.isNull == false ? record?.description : nil
            }
            self.revision = revision
        }

        mutating func take(snapshot text: String) throws {
            let lines = try text.split(separator: "\n").map { try JSON(String($0)) }
            let head = try #require(lines.first?["snapshot"])
            try #require(lines.last?["end"] != nil)
            feed = head["feed"]?.text ?? ""
            revision = head["revision"]?.int ?? 0
            for line in lines where line["record"] != nil { records[Self.name(line)] = line["record"]?.description }
        }

        func query(_ limit: Int) -> String {
            "?since=\(revision)&feed=\(feed)&limit=\(limit)"
                + (resources.map { "&resources=" + $0.joined(separator: ",") } ?? "")
        }
    }

    private static let names = ["doors", "homes", "rooms", "things"]

    /// Follows the feed until the writers have stopped and nothing is left to report.
    private static func follow(
        _ gateway: RunningGateway, _ writers: Writers, resources: [String]?, seed: Int
    ) async throws -> Replica {
        try await gateway.client { client async throws in
            var random = SeededRandom(seed: seed)
            var replica = Replica(resources: resources)
            let wanted = resources.map { "?resources=" + $0.joined(separator: ",") } ?? ""
            if seed % 2 == 1 { await writers.half() }
            try replica.take(snapshot: try await client.get("/v1/snapshot" + wanted).text)
            while true {
                let hasStopped = await writers.haveStopped
                let wait = hasStopped ? "" : "&wait=1"
                let answer = try await client.get(
                    "/v1/changes" + replica.query(Int.random(in: 1...40, using: &random)) + wait)
                try #require(answer.status == 200, "\(answer.text)")
                let page = try answer.json()
                try replica.take(page)
                if hasStopped, page["more"]?.bool == false {
                    // After a sync, all earlier commits have revisions.
                    let end = try await client.post("/v1/sync", "{}").json()["revision"]?.int ?? .max
                    if replica.revision >= end { return replica }
                }
            }
        }
    }

    /// The progress of the writers, for the clients that follow.
    private actor Writers {
        private var left: Int
        private let half: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(pushes: Int) {
            left = pushes
            half = pushes / 2
        }

        var haveStopped: Bool { left <= 0 }

        func pushed() {
            left -= 1
            if left == half {
                for continuation in waiting { continuation.resume() }
                waiting = []
            }
        }

        /// Ends all waiting.
        func stop() {
            left = 0
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func half() async {
            if left <= half { return }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private static func write(_ gateway: RunningGateway, _ writers: Writers, pushes: Int, seed: Int) async throws {
        try await gateway.client { client async throws in
            var random = SeededRandom(seed: seed)
            for _ in 0..<pushes {
                let edits = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.edit(&random) }
                let atomic = Bool.random(using: &random) ? "push" : "edit"
                let answer = try await client.post(
                    "/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#)
                try #require([200, 207, 409, 422, 503].contains(answer.status), "\(answer.text)")
                await writers.pushed()
            }
        }
    }

    /// There are few values and keys, so that edits conflict and values repeat.
    private static func edit(_ random: inout SeededRandom) -> String {
        let name = ["\"x\"", "\"y\"", "null"].randomElement(using: &random) ?? "null"
        let id = Int.random(in: 1...6, using: &random)
        let home = ["1", "2", "3", "null", "77"].randomElement(using: &random) ?? "null"
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return FeedFixture.edit("homes", id % 3 + 1, "name", "\"?\"", name)
        case 1, 2: return FeedFixture.edit("things", id, "home", "9", home)
        case 3: return FeedFixture.edit("things", id, "name", "\"?\"", name)
        case 4: return FeedFixture.edit("rooms", id, "home", "9", home)
        case 5:
            return
                #"{"resource":"things","id":-\#(Int.random(in: 1...1_000_000, using: &random)),"changeset":{"thing":{"old":null,"new":{"name":\#(name),"home":\#(home)}}}}"#
        case 6: return #"{"resource":"things","id":\#(id),"changeset":{"thing":{"old":{"name":"?"},"new":null}}}"#
        case 7:
            return
                #"{"resource":"homes","id":\#(id % 3 + 1),"changeset":{"things":[{"id":\#(id),"name":{"old":"?","new":\#(name)}}]}}"#
        default:
            return #"{"resource":"rooms","id":\#(id % 3 + 1),"changeset":{"room":{"old":{"name":"?"},"new":null}}}"#
        }
    }

    @Test("Each copy equals the database", arguments: TestEngine.allCases, 0..<3)
    func replicas(_ kind: TestEngine, _ seed: Int) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        let pushes = 40
        try await RunningGateway.withTwo(database, rules: FeedFixture.rules) { first, second async throws in
            let writers = Writers(pushes: 4 * pushes)
            try await withThrowingTaskGroup(of: Replica?.self) { group in
                for number in 0..<4 {
                    let gateway = number % 2 == 0 ? first : second
                    group.addTask {
                        do {
                            try await Self.write(gateway, writers, pushes: pushes, seed: 100 * seed + number)
                        } catch {
                            await writers.stop()
                            throw error
                        }
                        return nil
                    }
                }
                for (number, resources) in [nil, ["things"], nil, ["doors", "homes"]].enumerated() {
                    let gateway = number % 2 == 0 ? second : first
                    group.addTask {
                        try await Self.follow(gateway, writers, resources: resources, seed: 10 * seed + number)
                    }
                }
                for try await replica in group {
                    guard let replica else { continue }
                    let held = try await Self.held(first, replica.resources ?? Self.names)
                    #expect(replica.records == held, "seed \(seed)")
                }
            }
        }
    }

    /// The records of the database.
    private static func held(_ gateway: RunningGateway, _ names: [String]) async throws -> [String: String] {
        try await gateway.client { client async throws in
            var records: [String: String] = [:]
            for name in names {
                for record in try await client.get("/v1/records/\(name)?limit=500").json()["records"]?.array ?? [] {
                    records["\(name)/\(record["id"].map(\.description) ?? "")"] = record.description
                }
            }
            return records
        }
    }
}
