import Testing
import TestSupport

/// Random requests of all roles are compared with a slow oracle in memory.
@Suite(.timeLimit(.minutes(5))) struct AccessOracleTests {
    /// A row of the table.
    struct Stop: Equatable, Sendable {
        var area: Int?
        var owner: String?
        var title: String?
        var secret: String?
        var status: String
        var due: String?
    }

    /// A role in the simplest form.
    struct Role: Sendable {
        let name: String
        let reads: Set<String>
        let writes: Set<String>
        var creates = false
        var deletes = false
        var ownerIsSet = false
        let shows: @Sendable (Stop, Rounds.Client) -> Bool
    }

    private static let all: Set<String> = ["area", "owner", "title", "secret", "status", "due"]
    private static let areas: [String: Set<Int>] = ["ann": [1, 2], "bob": [3], "lee": [1]]
    private static let roles = [
        Role(name: "driver", reads: ["title", "area", "status"], writes: ["title", "area", "status"]) { stop, client in
            stop.area.map { areas[client.name]?.contains($0) == true } ?? false
        },
        Role(
            name: "keeper", reads: all, writes: all.subtracting(["owner"]), creates: true, deletes: true,
            ownerIsSet: true
        ) { stop, client in stop.owner == client.name || stop.owner == "nobody" },
        Role(name: "late", reads: all, writes: []) { stop, client in
            guard let due = stop.due, let owner = stop.owner else { return false }
            return due < "2026-06-01" && owner != client.name
        },
        Role(name: "orphans", reads: all, writes: []) { stop, _ in stop.owner == nil },
        Role(name: "office", reads: all, writes: all, creates: true, deletes: true) { _, _ in true },
    ]
    private static let steps: [String: Set<String>] = ["new": ["open"], "open": ["closed", "new"], "closed": []]

    private static func held(_ client: Rounds.Client) -> [Role] { roles.filter { client.roles.contains($0.name) } }

    private static func roles(on stop: Stop?, of client: Rounds.Client) -> [Role] {
        stop.map { stop in held(client).filter { $0.shows(stop, client) } } ?? []
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let text as String: "\"\(text)\""
        case let number as Int: "\(number)"
        default: "null"
        }
    }

    private static func value(_ group: String, _ stop: Stop) -> String {
        switch group {
        case "area": text(stop.area)
        case "owner": text(stop.owner)
        case "title": text(stop.title)
        case "secret": text(stop.secret)
        case "status": text(stop.status)
        default: text(stop.due)
        }
    }

    private static func setting(_ group: String, of stop: Stop, to json: String) -> Stop {
        var stop = stop
        let text = json == "null" ? nil : json.replacing("\"", with: "")
        switch group {
        case "area": stop.area = text.flatMap { Int($0) }
        case "owner": stop.owner = text
        case "title": stop.title = text
        case "secret": stop.secret = text
        case "status": stop.status = text ?? ""
        default: stop.due = text
        }
        return stop
    }

    private static func randomValue(_ group: String, _ random: inout SeededRandom) -> String {
        func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "null" }
        return switch group {
        case "area": pick(["1", "2", "3", "4", "null"])
        case "owner": pick(["\"kim\"", "\"lee\"", "\"KIM\"", "\"nobody\"", "null"])
        case "status": pick(["\"new\"", "\"open\"", "\"closed\""])
        case "due": pick(["\"2026-01-01\"", "\"2026-08-01\"", "null"])
        default: "\"v\(Int.random(in: 0..<9, using: &random))\""
        }
    }

    /// An expected answer, and the expected rows afterwards.
    struct Expected {
        var status: Int
        var outcome: String?
        var stops: [Int: Stop]
    }

    @Test("Each answer equals the oracle's", arguments: TestEngine.allCases, 0..<5)
    func oracle(_ kind: TestEngine, _ seed: Int) async throws {
        try await Rounds.with(kind) { gateway in
            var random = SeededRandom(seed: seed)
            var stops: [Int: Stop] = [
                1: Stop(area: 1, owner: "kim", title: "One", secret: "S1", status: "new", due: "2026-01-01"),
                2: Stop(area: 2, owner: "lee", title: "Two", secret: "S2", status: "open", due: "2026-05-01"),
                3: Stop(area: 3, owner: "nobody", title: "Three", secret: "S3", status: "closed", due: "2026-09-01"),
                4: Stop(area: nil, owner: nil, title: "Four", secret: "S4", status: "new", due: nil),
                5: Stop(area: 3, owner: "KIM", title: "Five", secret: "S5", status: "new", due: "2026-02-01"),
            ]
            for step in 0..<60 {
                let client = Rounds.clients.randomElement(using: &random) ?? Rounds.ann
                let id = Int.random(in: 1...7, using: &random)
                let group = Self.all.sorted().randomElement(using: &random) ?? "title"
                let new = Self.randomValue(group, &random)
                let note = "seed \(seed), step \(step), \(client.name), \(id), \(group) to \(new)"
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1: try await Self.read(id, stops, as: client, gateway, note)
                case 2:
                    let expected = Self.creating(id, group, new, stops, by: client)
                    let answer = try await gateway.merge(
                        "\(id)", #"{"stop": {"old": null, "new": {"\#(group)": \#(new)}}}"#, as: client)
                    try await Self.compare(answer, expected, id, gateway, "creating, \(note)")
                    stops = expected.stops
                case 3:
                    let expected = Self.deleting(id, stops, by: client)
                    let answer = try await gateway.merge("\(id)", #"{"stop": {"old": {}, "new": null}}"#, as: client)
                    try await Self.compare(answer, expected, id, gateway, "deleting, \(note)")
                    stops = expected.stops
                default:
                    let old = stops[id].map { Self.value(group, $0) } ?? "null"
                    let base = group == "status" && old == "null" ? "\"\"" : old
                    let expected = Self.editing(id, group, base, new, stops, by: client)
                    let answer = try await gateway.merge(
                        "\(id)", #"{"stop": {"\#(group)": {"old": \#(base), "new": \#(new)}}}"#, as: client)
                    try await Self.compare(answer, expected, id, gateway, "editing \(old), \(note)")
                    stops = expected.stops
                }
            }
        }
    }

    // MARK: Expectations

    private static func editing(
        _ id: Int, _ group: String, _ old: String, _ new: String, _ stops: [Int: Stop], by client: Rounds.Client
    ) -> Expected {
        if held(client).isEmpty { return Expected(status: 404, stops: stops) }
        guard held(client).contains(where: { $0.writes.contains(group) }) else {
            return Expected(status: 403, outcome: "no-right", stops: stops)
        }
        let before = roles(on: stops[id], of: client)
        guard let stop = stops[id], !before.isEmpty else {
            return Expected(status: 200, outcome: old == new ? nil : "missing", stops: stops)
        }
        let writers = before.filter { $0.writes.contains(group) }
        if writers.isEmpty { return Expected(status: 403, outcome: "no-right", stops: stops) }
        if old == new { return Expected(status: 200, outcome: nil, stops: stops) }
        if group == "status", let allowed = steps[stop.status], !allowed.contains(new.replacing("\"", with: "")) {
            return Expected(status: 200, outcome: "server-won", stops: stops)
        }
        let after = setting(group, of: stop, to: new)
        guard writers.contains(where: { $0.shows(after, client) }) else {
            return Expected(status: 403, outcome: "outside-rows", stops: stops)
        }
        return Expected(status: 200, outcome: "applied", stops: stops.merging([id: after]) { $1 })
    }

    private static func creating(
        _ id: Int, _ group: String, _ new: String, _ stops: [Int: Stop], by client: Rounds.Client
    ) -> Expected {
        if held(client).isEmpty { return Expected(status: 404, stops: stops) }
        let creators = held(client).filter { $0.creates && $0.writes.contains(group) }
        guard let creator = creators.first else { return Expected(status: 403, outcome: "no-right", stops: stops) }
        if let stop = stops[id] {
            let before = roles(on: stop, of: client)
            if before.isEmpty { return Expected(status: 422, outcome: "unique", stops: stops) }
            let writers = before.filter { $0.writes.contains(group) }
            if writers.isEmpty { return Expected(status: 403, outcome: "no-right", stops: stops) }
            if value(group, stop) == new { return Expected(status: 200, outcome: "already", stops: stops) }
            if group == "status", let allowed = steps[stop.status], !allowed.contains(new.replacing("\"", with: "")) {
                return Expected(status: 200, outcome: "server-won", stops: stops)
            }
            let after = setting(group, of: stop, to: new)
            guard writers.contains(where: { $0.shows(after, client) }) else {
                return Expected(status: 403, outcome: "outside-rows", stops: stops)
            }
            return Expected(status: 200, outcome: "client-won", stops: stops.merging([id: after]) { $1 })
        }
        var made = setting(group, of: Stop(status: "new"), to: new)
        if creator.ownerIsSet { made.owner = client.name }
        guard creators.contains(where: { $0.shows(made, client) }) else {
            return Expected(status: 403, outcome: "outside-rows", stops: stops)
        }
        return Expected(status: 200, outcome: "inserted", stops: stops.merging([id: made]) { $1 })
    }

    private static func deleting(_ id: Int, _ stops: [Int: Stop], by client: Rounds.Client) -> Expected {
        if held(client).isEmpty { return Expected(status: 404, stops: stops) }
        guard held(client).contains(where: \.deletes) else {
            return Expected(status: 403, outcome: "no-right", stops: stops)
        }
        let before = roles(on: stops[id], of: client)
        if before.isEmpty { return Expected(status: 200, outcome: "already", stops: stops) }
        guard before.contains(where: \.deletes) else {
            return Expected(status: 403, outcome: "no-right", stops: stops)
        }
        return Expected(status: 200, outcome: "deleted", stops: stops.filter { $0.key != id })
    }

    // MARK: Comparing

    private static func compare(
        _ answer: HTTPClient.Answer, _ expected: Expected, _ id: Int, _ gateway: RunningGateway, _ note: String
    ) async throws {
        #expect(answer.status == expected.status, "\(note): \(answer.text)")
        let body = try answer.json()
        let reported = body["problem"]?["code"]?.text ?? body["outcomes"]?[0]?["outcome"]?.text
        if answer.status != 404 { #expect(reported == expected.outcome, "\(note): \(answer.text)") }
        let standing = try await gateway.get("/v1/records/stops/\(id)", as: Rounds.boss)
        if let stop = expected.stops[id] {
            let fields = try standing.json()["stop"]
            for group in all {
                #expect(fields?[group]?.description == value(group, stop), "\(note): \(group), \(standing.text)")
            }
        } else {
            #expect(standing.status == 404, "\(note): \(standing.text)")
        }
    }

    private static func read(
        _ id: Int, _ stops: [Int: Stop], as client: Rounds.Client, _ gateway: RunningGateway, _ note: String
    ) async throws {
        let answer = try await gateway.get("/v1/records/stops/\(id)", as: client)
        let holding = roles(on: stops[id], of: client)
        guard let stop = stops[id], !holding.isEmpty else {
            #expect(answer.status == 404, "\(note): \(answer.text)")
            return
        }
        let fields = try answer.json()["stop"]?.object ?? [:]
        for group in all {
            let isRead = holding.contains { $0.reads.contains(group) }
            #expect(fields[group]?.description == (isRead ? value(group, stop) : nil), "\(note): \(answer.text)")
        }
    }
}
