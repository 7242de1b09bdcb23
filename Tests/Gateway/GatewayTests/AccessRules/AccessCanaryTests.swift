import Operations
import Testing
import TestSupport

/// No answer to one tenant contains a byte of another tenant's values.
@Suite(.timeLimit(.minutes(5))) struct AccessCanaryTests {
    private static let filling = (1...12).map { id in
        let area = id % 2 + 1
        return """
            INSERT INTO stops (id, area, owner, title, secret, code) VALUES (\(id), \(area), 'own-CANARY\(area)',
                'title-CANARY\(area)', 'secret-CANARY\(area)', 'code-CANARY\(area)-\(id)');
            INSERT INTO parcels (id, stop_id, label, worth) VALUES (\(id), \(id), 'label-CANARY\(area)', 'w-CANARY\(area)');
            """
    }.joined(separator: "\n")

    private static let rules = """
        resource: stops
        sections:
          stop:
            table: stops
            client-keys: allow
            identity: [code]
            on-missing: restore
            groups: {title: title, area: area, owner: owner, secret: secret, code: code}
          parcels:
            list: true
            table: parcels
            client-keys: allow
            parent: {stop_id: id}
            groups: {label: label, worth: worth}
        access:
          tenant:
            read: all
            write: all
            create: true
            delete: true
            rows: {area: {claim: area}}
            set: {area: {claim: area}}
        """

    /// A request that may touch anything.
    private static func request(_ random: inout SeededRandom, _ area: Int, feed: String) -> (
        path: String, body: String?
    ) {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let id = number(1...14)
        let other = number(1...14)
        let edit =
            [
                #""stop": {"title": {"old": "a", "new": "b\#(number(0...9))"}}"#,
                #""stop": {"secret": {"oldHash": "sha256:\#(String(repeating: "0", count: 64))", "new": "s"}}"#,
                #""stop": {"old": null, "new": {"title": "t", "code": "code-CANARY\#(3 - area)-\#(other)"}}"#,
                #""stop": {"old": {"title": "x"}, "new": null}"#,
                #""parcels": [{"id": \#(other), "label": {"old": "a", "new": "b"}}]"#,
                #""parcels": [{"id": \#(other), "old": null, "new": {"label": "l"}}]"#,
                #""parcels": [{"id": \#(other), "old": {"label": "x"}, "new": null}]"#,
                #""stop": {"code": {"old": "q", "new": "code-CANARY\#(3 - area)-\#(other)"}}"#,
            ].randomElement(using: &random) ?? ""
        let one = #"{"resource": "stops", "id": \#(id), "changeset": {\#(edit)}}"#
        let two = #"{"resource": "stops", "id": \#(other), "changeset": {"stop": {"title": {"old": "u", "new": "v"}}}}"#
        let key = #""key": "k\#(number(1...30))""#
        switch number(0...11) {
        case 0: return ("/v1/records/stops/\(id)", nil)
        case 1: return ("/v1/records/stops?limit=\(number(1...5))&after=\(number(1...12))", nil)
        case 2: return ("/v1/changes?since=\(number(1...60))&feed=\(feed)&limit=\(number(1...9))", nil)
        case 3: return ("/v1/snapshot", nil)
        case 4: return ("/v1/rules", nil)
        case 5: return ("/v1/merge/stops?by=true", #"{"id": \#(id), "changeset": {\#(edit)}}"#)
        case 6: return ("/v1/merge/stops?preview=true", #"{"id": \#(id), "changeset": {\#(edit)}}"#)
        case 7: return ("/v1/push", #"{\#(key), "edits": [\#(one), \#(two)]}"#)
        case 8: return ("/v1/push?by=true", #"{"atomic": "edit", "edits": [\#(one), \#(two)]}"#)
        case 9: return ("/v1/journal?limit=50", nil)
        case 10: return ("/v1/journal/\(number(1...60))", nil)
        default:
            return (
                "/v1/sync",
                #"{"pushes": [{\#(key), "edits": [\#(one)]}], "since": \#(number(1...40)), "feed": "\#(feed)"}"#
            )
        }
    }

    @Test("No client reads values of another tenant", arguments: TestEngine.allCases, 0..<2)
    func canaries(_ kind: TestEngine, _ seed: Int) async throws {
        let clients = (1...2).map {
            Rounds.Client("t\($0)", ["tenant"], claims: #"{"area": \#($0)}"#, rights: [.read, .write, .operate])
        }
        let database = try await Rounds.database(kind, filling: Self.filling)
        try await RunningGateway.with(
            database, rules: ["stops.yaml": Self.rules], tokens: clients.map(\.line).joined(separator: "\n"),
            journal: .together
        ) { gateway in
            var random = SeededRandom(seed: seed)
            var feeds: [String] = []
            for client in clients {
                feeds.append(try await gateway.get("/v1/changes", as: client).json()["feed"]?.text ?? "")
            }
            for step in 0..<180 {
                let tenant = Int.random(in: 1...2, using: &random)
                let request = Self.request(&random, tenant, feed: feeds[tenant - 1])
                let client = clients[tenant - 1]
                let answer =
                    if let body = request.body {
                        try await gateway.post(request.path, body, as: client)
                    } else { try await gateway.get(request.path, as: client) }
                #expect(answer.status < 500, "seed \(seed), step \(step): \(request) \(answer.text)")
                // A client's own text is returned to it.
                let reported = answer.text.replacing("code-CANARY\(3 - tenant)-", with: "")
                #expect(
                    !reported.contains("CANARY\(3 - tenant)"), "seed \(seed), step \(step): \(request) \(answer.text)")
            }
        }
    }
}
