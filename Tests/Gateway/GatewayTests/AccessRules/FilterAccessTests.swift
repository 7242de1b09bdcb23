import Testing
import TestSupport

/// Filters reduce the rows that a role can read, and add none.
@Suite(.timeLimit(.minutes(5))) struct FilterAccessTests {
    private static func snapshot(
        _ gateway: RunningGateway, _ filter: String?, as client: Rounds.Client, _ more: String = ""
    ) async throws -> (ids: [Int], head: JSON) {
        let answer = try await gateway.get(
            "/v1/snapshot?resources=stops&" + FilterFixture.query(filter) + more, as: client)
        guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
        let lines = try answer.text.split(separator: "\n").map { try JSON(String($0)) }
        let ids = lines.filter { $0["record"] != nil }.compactMap { line in
            line["id"]?.int.map { line["record"]?.isNull == true ? -$0 : $0 }
        }
        return (ids, lines[0]["snapshot"] ?? lines[0])
    }

    @Test("A record has to match the filter and the role", arguments: TestEngine.allCases)
    func both(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let filter = #"{"stops": {"stop.status": ["open", "closed"]}}"#
            #expect(try await Self.snapshot(gateway, filter, as: Rounds.boss).ids == [2, 3])
            let ann = try await Self.snapshot(gateway, filter, as: Rounds.ann)
            #expect(ann.ids == [2])
            #expect(try await Self.snapshot(gateway, filter, as: Rounds.bob).ids == [3])
            // The same column in a role and a filter.
            #expect(try await Self.snapshot(gateway, #"{"stops": {"stop.area": 1}}"#, as: Rounds.ann).ids == [1])
            #expect(try await Self.snapshot(gateway, #"{"stops": {"stop.area": 3}}"#, as: Rounds.ann).ids == [])
            let feed = ann.head["feed"]?.text ?? ""
            let revision = ann.head["revision"]?.int ?? 0
            func poll() async throws -> [Int] {
                _ = try await gateway.post("/v1/sync", "{}", as: Rounds.boss)
                let page = try await gateway.get(
                    "/v1/changes?since=\(revision)&feed=\(feed)&resources=stops&" + FilterFixture.query(filter),
                    as: Rounds.ann
                ).json()
                return (page["changes"]?.array ?? []).compactMap { change in
                    change["id"]?.int.map { change["record"]?.isNull == true ? -$0 : $0 }
                }
            }
            // Another client's row is not named, whether it matches the filter or not.
            _ = try await gateway.merge("3", #"{"stop": {"title": {"old": "Three", "new": "x"}}}"#, as: Rounds.boss)
            _ = try await gateway.merge("5", #"{"stop": {"title": {"old": "Five", "new": "x"}}}"#, as: Rounds.boss)
            #expect(try await poll() == [])
            _ = try await gateway.merge("1", #"{"stop": {"status": {"old": "new", "new": "open"}}}"#, as: Rounds.boss)
            #expect(try await poll() == [1])
            _ = try await gateway.merge("2", #"{"stop": {"area": {"old": 2, "new": 3}}}"#, as: Rounds.boss)
            #expect(try await poll() == [1, -2])
            _ = try await gateway.merge("2", #"{"stop": {"title": {"old": "Two", "new": "y"}}}"#, as: Rounds.boss)
            #expect(try await poll() == [1, -2])
        }
    }

    /// A hidden field is an unknown field.
    @Test("Hidden names are unknown in filters", arguments: TestEngine.allCases)
    func hiddenNames(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            func fault(_ filter: String, _ client: Rounds.Client) async throws -> String {
                let answer = try await gateway.get("/v1/snapshot?" + FilterFixture.query(filter), as: client)
                #expect(answer.status == 400, "\(answer.text)")
                return try answer.json()["code"]?.text ?? ""
            }
            let hidden = try await fault(#"{"stops": {"stop.secret": "S1"}}"#, Rounds.ann)
            let unknown = try await fault(#"{"stops": {"stop.nothing": "S1"}}"#, Rounds.ann)
            #expect(hidden == unknown && unknown == "unknown-field")
            #expect(try await fault(#"{"stops": {}}"#, Rounds.max) == "unknown-resource")
            // One role reads the field in some rows only. In the other rows no value matches.
            #expect(
                try await Self.snapshot(gateway, #"{"stops": {"stop.secret": ["S1", "S2", "S3"]}}"#, as: Rounds.lee).ids
                    == [2, 3])
            let estimate = try await Self.snapshot(
                gateway, #"{"stops": {"stop.price": {"from": 10}, "stop.secret": {"from": "S"}}}"#, as: Rounds.lee)
            #expect(estimate.head["records"]?.isNull == true)
        }
    }

    @Test("An earlier filter adds no rows", arguments: TestEngine.allCases)
    func earlierFilter(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let ann = try await Self.snapshot(gateway, #"{"stops": {"stop.status": "new"}}"#, as: Rounds.ann)
            #expect(ann.ids == [1])
            let feed = ann.head["feed"]?.text ?? ""
            let open = #"{"stops": {"stop.status": "open"}}"#
            #expect(try await Self.snapshot(gateway, open, as: Rounds.ann, "&unless=" + feed).ids == [-1, 2])
            // The feed of a client with other rights.
            let other = try await gateway.get(
                "/v1/snapshot?" + FilterFixture.query(open) + "&unless=" + feed, as: Rounds.bob)
            #expect(other.status == 410)
            // A filter that this client cannot have: the text of a feed is no right.
            let boss = try await Self.snapshot(gateway, #"{"stops": {"stop.secret": "S1"}}"#, as: Rounds.boss)
            let secret = (boss.head["feed"]?.text ?? "").split(separator: ".").last ?? ""
            let forged = feed.split(separator: ".").dropLast().joined(separator: ".") + "." + secret
            let answer = try await gateway.get(
                "/v1/snapshot?" + FilterFixture.query(open) + "&unless=" + forged, as: Rounds.ann)
            #expect(answer.status == 410)
        }
    }
}
