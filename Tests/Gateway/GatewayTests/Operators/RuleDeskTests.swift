import Operations
import Testing
import TestSupport

@testable import Gateway

/// Rules with their lines, and trials of rules over HTTP.
@Suite(.timeLimit(.minutes(3))) struct RuleDeskTests {
    private static func with(
        _ kind: TestEngine = .sqlite, _ body: @escaping @Sendable (HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0) }
        }
    }

    private static func quoted(_ text: String) -> String { JSON(text: text).description }

    private static func files(_ rules: [String: String]) -> String {
        "{" + rules.map { "\(quoted($0.key)):\(quoted($0.value))" }.joined(separator: ",") + "}"
    }

    @Test("Each policy has the line that sets it", arguments: TestEngine.allCases)
    func tree(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client async throws in
            let answer = try await client.get("/v1/operations/rules")
            let tree = try answer.json()
            let person = tree["resources"]?[0]?["sections"]?[0]
            #expect(person?["section"]?.text == "person" && person?["table"]?.text == "people", "\(answer.text)")
            #expect(person?["onMissing"] == (try JSON(#"{"value":"restore","rule":"people.yaml:5"}"#)))
            let groups = person?["groups"]?.array ?? []
            #expect(groups.map { $0["group"]?.text } == ["name", "email", "points", "secret", "state"])
            #expect(groups[0]["onConflict"] == (try JSON(#"{"value":"client-wins","rule":"default"}"#)), "\(groups[0])")
            #expect(groups[2]["merge"] == (try JSON(#"{"value":"add","rule":"people.yaml:10"}"#)), "\(groups[2])")
            #expect(groups[3]["private"]?.bool == true && groups[0]["private"]?.bool == false)
            #expect(groups[4]["onConflict"] == (try JSON(#"{"value":"reject","rule":"people.yaml:12"}"#)))
            #expect(tree["findings"]?.isArray == true)
        }
    }

    private static let records =
        #""base":{"id":1,"person":{"name":"Ann"}},"current":{"id":1,"person":{"name":"Anne"}},"edited":{"id":1,"person":{"name":"Anna"}}"#

    @Test("An edit is explained under the active rules and under the rules of a request")
    func explain() async throws {
        try await Self.with { client async throws in
            let active = try await client.post(
                "/v1/operations/explain", #"{"resource":"people",\#(Self.records)}"#)
            #expect(active.status == 200, "\(active.text)")
            #expect(try active.json()["groups"]?[0]?["outcome"]?.text == "client-won", "\(active.text)")
            let rules = JournalTests.rules.mapValues {
                $0.replacing("name: name", with: "name: {column: name, on-conflict: server-wins}")
            }
            let new = try await client.post(
                "/v1/operations/explain", #"{"resource":"people",\#(Self.records),"files":\#(Self.files(rules))}"#)
            #expect(try new.json()["groups"]?[0]?["outcome"]?.text == "server-won", "\(new.text)")
            let cases: [(body: String, code: String)] = [
                (#"{"resource":"peopel",\#(Self.records)}"#, "invalid"), (#"{"resource":7}"#, "invalid"),
                (#"{"resource":"people","base":7,"current":null,"edited":null}"#, "invalid"),
                (#"{"resource":"people","frozen":"x"}"#, "invalid"),
                (#"{"resource":"people",\#(Self.records),"files":{}}"#, "invalid"),
                (#"{"resource":"people",\#(Self.records),"files":{"../people.yaml":"x"}}"#, "invalid"),
                (#"{"resource":"people",\#(Self.records),"files":{"people.yaml":7}}"#, "invalid"),
                (#"{"resource":"people",\#(Self.records),"files":{"people.yaml":"resource: ["}}"#, "invalid-rules"),
                (#"{"resource":"people",\#(Self.records),"other":1}"#, "unknown-member"),
            ]
            for (body, code) in cases {
                let answer = try await client.post("/v1/operations/explain", body)
                #expect(answer.status == 400, "\(body) \(answer.text)")
                #expect(try answer.json()["code"]?.text == code, "\(body) \(answer.text)")
            }
            let large = String(repeating: "#", count: 1 << 20) + "\n"
            let answer = try await client.post(
                "/v1/operations/explain",
                #"{"resource":"people",\#(Self.records),"files":{"people.yaml":\#(Self.quoted(large))}}"#)
            #expect(answer.status == 413, "\(answer.text)")
        }
    }

    @Test("A rehearsal decides the journal's entries again, and changes nothing", arguments: TestEngine.allCases)
    func rehearse(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client async throws in
            for name in ["b", "c"] {
                let edit = JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"\#(name)"}}}"#)
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
            }
            let version = try await client.get("/v1/rules").json()["version"]
            func rehearse(_ rules: [String: String], _ more: String = "") async throws -> HTTPClient.Answer {
                try await client.post("/v1/operations/rehearse", #"{"files":\#(Self.files(rules))\#(more)}"#)
            }
            let same = try await rehearse(JournalTests.rules).json()
            #expect(
                same["different"]?.int == 0 && same["same"]?.int == 2 && same["isComplete"]?.bool == true, "\(same)")
            let rules = JournalTests.rules.mapValues {
                $0.replacing("name: name", with: "name: {column: name, on-conflict: server-wins}")
            }
            let new = try await rehearse(rules, #","since":"30d","resource":"people""#)
            #expect(try new.json()["different"]?.int == 1, "\(new.text)")
            #expect(try new.json()["examples"]?.array.count == 1, "\(new.text)")
            #expect(try await client.get("/v1/rules").json()["version"] == version)
            #expect(try await client.get("/v1/records/people/1").json()["person"]?["name"]?.text == "c")
            // SQL of uploaded files never runs: with a probe this would be an error of the database.
            let wild = rules.mapValues { $0.replacing("table: people", with: "table: people\n    where: no_such(1)") }
            #expect(try await rehearse(wild).status == 200)
            for (more, code) in [
                (#","resource":"x""#, "invalid"), (#","since":"soon""#, "invalid"), (#","x":1"#, "unknown-member"),
            ] {
                let answer = try await rehearse(rules, more)
                #expect(answer.status == 400, "\(answer.text)")
                #expect(try answer.json()["code"]?.text == code, "\(answer.text)")
            }
            let wrong = try await rehearse(["people.yaml": "resource: people\nsections: {person: {table: nowhere}}\n"])
            #expect(try wrong.json()["code"]?.text == "invalid-rules", "\(wrong.text)")
        }
    }

    @Test("A console that only reads may try rules, and another user may not")
    func rights() async throws {
        let database = try await JournalTests.database(.sqlite)
        let (ann, ben) = (AccessToken.make(), AccessToken.make())
        let tokens =
            ann.line(name: "ann", rights: [.read, .write, .operate]) + "\n"
            + ben.line(name: "ben", rights: [.read, .write])
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: tokens, journal: .together,
            configure: { $0.console = .readOnly }
        ) { gateway async throws in
            try await gateway.client(token: ann.secret) { client async throws in
                let body = #"{"resource":"people",\#(Self.records)}"#
                #expect(try await client.post("/v1/operations/explain", body, ["X-Console": "1"]).status == 200)
            }
            try await gateway.client(token: ben.secret) { client async throws in
                #expect(try await client.get("/v1/operations/rules").status == 403)
                for path in ["explain", "rehearse"] {
                    #expect(try await client.post("/v1/operations/\(path)", "{}").status == 403)
                }
            }
        }
    }

    @Test("The health report has every part", arguments: TestEngine.allCases)
    func health(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client async throws in
            let report = try await client.get("/v1/operations/health").json()
            #expect(report["version"]?.text == ProgramVersion.text && report["isReady"]?.bool == true, "\(report)")
            #expect(report["startedAt"]?.text?.hasSuffix("Z") == true && report["problems"]?.array.isEmpty == true)
            #expect(report["rules"]?["resources"]?.int == 1)
            #expect((report["connections"]?["limit"]?.int != nil) == (kind == .mariadb), "\(report)")
            #expect(report["journal"]?["bytes"]?.int != nil && report["journal"]?["promise"]?.text != nil)
            #expect(report["certificateEnd"]?.isNull == true && report["maintenance"]?.isNull == true)
            _ = try await client.post("/v1/operations/maintenance", #"{"maintenance":true,"reason":"x"}"#)
            let paused = try await client.get("/v1/operations/health")
            #expect(try paused.json()["maintenance"]?.text == "x" && paused.status == 200)
        }
    }
}
