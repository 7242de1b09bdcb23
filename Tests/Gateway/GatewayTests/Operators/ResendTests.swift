import Operations
import Testing
import TestSupport

/// Resends and drops of refused pushes over HTTP.
@Suite struct ResendTests {
    /// Uses the email of person 1.
    private static let refused =
        #"{"key":"k","changeset":{"person":{"email":{"old":"b@x","new":"a@x"},"points":{"old":20,"new":25}}},"id":2}"#

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.withTwo(database, rules: JournalTests.rules) { one, two async throws in
            try await one.client { first in try await two.client { try await body(first, $0) } }
        }
    }

    private static func refuse(_ client: HTTPClient.Session) async throws {
        let answer = try await client.post("/v1/merge/people", refused)
        #expect(answer.status == 422, "\(answer.text)")
    }

    private static func person(_ id: Int, _ client: HTTPClient.Session) async throws -> JSON? {
        try await client.get("/v1/records/people/\(id)").json()["person"]
    }

    private static func free(_ client: HTTPClient.Session) async throws {
        let answer = try await client.post(
            "/v1/merge/people", JournalTests.edit(#"{"person":{"email":{"old":"a@x","new":"c@x"}}}"#))
        #expect(answer.status == 200)
    }

    @Test("A resend is merged once, and a preview writes nothing", arguments: TestEngine.allCases)
    func resend(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, other async throws in
            try await Self.refuse(client)
            let still = try await client.post("/v1/journal/1/resend", "{}")
            #expect(still.status == 422)
            #expect(try still.json()["problem"]?["code"]?.text == "unique", "\(still.text)")
            try await Self.free(client)
            let preview = try await client.post("/v1/journal/1/resend?preview=true", "{}")
            #expect(preview.status == 200, "\(preview.text)")
            #expect(try preview.json()["record"]?["person"]?["email"]?.text == "a@x")
            #expect(try await Self.person(2, client)?["email"]?.text == "b@x")
            let resent = try await client.post("/v1/journal/1/resend", "{}")
            #expect(resent.status == 200, "\(resent.text)")
            #expect(try await Self.person(2, client)?["points"]?.int == 25)
            for session in [client, other] {
                let again = try await session.post("/v1/journal/1/resend", "{}")
                #expect(again.status == 200 && again.text == resent.text, "\(again.text)")
                #expect(again.headers["idempotent-replayed"] == "true")
                let edited = Self.refused.replacing("a@x", with: "d@x").replacing(#""key":"k","#, with: "")
                for (path, body) in [("", #"{"body":\#(edited)}"#), ("?preview=true", "{}")] {
                    let other = try await session.post("/v1/journal/1/resend\(path)", body)
                    #expect(other.status == 409)
                    #expect(try other.json()["code"]?.text == "already-replayed", "\(other.text)")
                }
            }
            let entry = try await client.get("/v1/journal/1").json()
            #expect(entry["refused"]?["replayed"]?.text != nil && entry["refused"]?["dropped"] == nil)
            let dropped = try await client.post("/v1/journal/1/drop", "{}")
            #expect(try dropped.json()["code"]?.text == "already-replayed", "\(dropped.text)")
            #expect(try await Self.person(2, client)?["points"]?.int == 25)
            #expect(try await client.post("/v1/journal/2/resend", "{}").json()["code"]?.text == "nothing-to-replay")
            #expect(try await client.post("/v1/journal/99/resend", "{}").status == 404)
        }
    }

    @Test("An edited push is merged for the operator who edited it", arguments: TestEngine.allCases)
    func edited(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ async throws in
            try await Self.refuse(client)
            let edited = Self.refused.replacing("a@x", with: "d@x").replacing(#""key":"k","#, with: "")
            for wrong in [#"{"body":1}"#, #"{"body":null}"#, #"{"push":{}}"#, #"{"body":{"changeset":7,"id":2}}"#] {
                #expect(try await client.post("/v1/journal/1/resend", wrong).status == 400, "\(wrong)")
            }
            let digest = edited.replacing("d@x", with: "hmac-sha256:00")
            let hidden = try await client.post("/v1/journal/1/resend", #"{"body":\#(digest)}"#)
            #expect(try hidden.json()["code"]?.text == "private", "\(hidden.text)")
            let resent = try await client.post(
                "/v1/journal/1/resend", #"{"body":\#(edited)}"#, ["X-Device-ID": "desk"])
            #expect(resent.status == 200, "\(resent.text)")
            #expect(try await Self.person(2, client)?["email"]?.text == "d@x")
            let newest = try await client.get("/v1/journal?order=newest&limit=1").json()["entries"]?.array.first
            #expect(
                newest?["key"]?.text == "resend:1" && newest?["device"]?.text == "desk", "\(String(describing: newest))"
            )
        }
    }

    @Test("Simultaneous resends and drops have one effect", arguments: TestEngine.allCases)
    func simultaneous(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.withTwo(database, rules: JournalTests.rules) { one, two async throws in
            try await Self.race(one, two)
        }
    }

    /// Such a journal belongs to one gateway.
    @Test("They have one effect in a journal that is written ahead, too", arguments: TestEngine.allCases)
    func simultaneousAhead(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        if kind == .sqlite { try await database.run("PRAGMA journal_mode = WAL;") }
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .ahead) { gateway async throws in
            try await Self.race(gateway, gateway)
            for round in 1...8 { try await Self.raceOfUndos(round, gateway) }
        }
    }

    /// Undoes an entry in three ways at once.
    private static func raceOfUndos(_ round: Int, _ gateway: RunningGateway) async throws {
        let (number, before) = try await gateway.client { client async throws in
            let edit = JournalTests.edit(#"{"person":{"points":{"old":0,"new":\#(round)}}}"#)
            #expect(try await client.post("/v1/merge/people", edit).status == 200)
            let newest = try await client.get("/v1/journal?order=newest&limit=1").json()["entries"]?[0]?["number"]?.int
            return (newest ?? 0, try await Self.person(1, client)?["points"]?.int ?? 0)
        }
        let answers = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
            for body in ["{}", #"{"groups":["person.points"]}"#, #"{"force":true}"#] {
                group.addTask { try await gateway.client { try await $0.post("/v1/journal/\(number)/undo", body) } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let after = try await gateway.client { try await Self.person(1, $0)?["points"]?.int }
        #expect(after == before - round, "round \(round): \(answers.map(\.text))")
    }

    private static func race(_ one: RunningGateway, _ two: RunningGateway) async throws {
        for round in 1...8 {
            let (push, first) = try await one.client { client async throws in
                let taken = try await client.post(
                    "/v1/merge/people",
                    JournalTests.edit(#"{"person":{"email":{"old":"","new":"b@x"}}}"#, id: 2))
                #expect(taken.status == 200, "\(taken.text)")
                let free = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"email":{"old":"","new":"a@x"}}}"#))
                #expect(free.status == 200, "\(free.text)")
                let push = Self.refused.replacing(#""k""#, with: #""k\#(round)""#)
                    .replacing(#""old":20,"new":25"#, with: #""old":0,"new":1"#)
                #expect(try await client.post("/v1/merge/people", push).status == 422)
                let last = try await client.get("/v1/journal?refused=true&order=newest&limit=1").json()
                let person = try await Self.person(2, client)
                try await Self.free(client)
                return (last["entries"]?.array.first?["number"]?.int ?? 0, person?["points"]?.int ?? 0)
            }
            let edited = Self.refused.replacing("a@x", with: "e@\(round)").replacing(#""key":"k","#, with: "")
                .replacing(#""old":20,"new":25"#, with: #""old":0,"new":1"#)
            let requests = [
                ("resend", "{}"), ("resend", "{}"), ("resend", #"{"body":\#(edited)}"#), ("drop", "{}"),
            ]
            let answers = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                for (index, (action, body)) in requests.enumerated() {
                    group.addTask {
                        try await (index % 2 == 0 ? one : two).client {
                            try await $0.post("/v1/journal/\(push)/\(action)", body)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers { #expect([200, 409].contains(answer.status), "\(answer.text)") }
            let (points, entry) = try await one.client { client async throws in
                (
                    try await Self.person(2, client)?["points"]?.int,
                    try await client.get("/v1/journal/\(push)").json()
                )
            }
            let isDropped = entry["refused"]?["dropped"] != nil
            #expect(points == first + (isDropped ? 0 : 1), "round \(round): \(answers.map(\.text))")
            #expect(isDropped != (entry["refused"]?["replayed"]?.text != nil), "\(entry)")
        }

    }

    @Test("A push whose key has expired is not merged a second time", arguments: TestEngine.allCases)
    func expiredKey(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let body =
                    #"{"key":"k","edits":[{"resource":"people","id":1,"changeset":{"person":{"points":{"old":10,"new":11}}}}]}"#
                #expect(try await client.post("/v1/push", body).status == 200)
                // The stored answer is pruned.
                try await database.runOnJournal(
                    "UPDATE entries SET name = NULL, request = NULL, code = NULL, answer = NULL;")
                let late = body.replacing(#""key":"k","#, with: #""key":"k","sent":"2020-01-01T00:00:00Z","#)
                let refused = try await client.post("/v1/push", late)
                #expect(try refused.json()["problem"]?["code"]?.text == "key-expired", "\(refused.text)")
                let number = try await client.get("/v1/journal?refused=true").json()["entries"]?[0]?["number"]?.int ?? 0
                for path in ["", "?preview=true"] {
                    let resent = try await client.post("/v1/journal/\(number)/resend\(path)", "{}")
                    #expect(try resent.json()["code"]?.text == "already-replayed", "\(resent.text)")
                }
                #expect(try await Self.person(1, client)?["points"]?.int == 11)
            }
        }
    }

    @Test("A dropped push is settled, and lists leave it out", arguments: TestEngine.allCases)
    func drop(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        let (ann, ben) = (AccessToken.make(), AccessToken.make())
        let tokens =
            ann.line(name: "ann", rights: [.read, .write, .operate]) + "\n"
            + ben.line(name: "ben", rights: [.read, .write])
        try await RunningGateway.with(database, rules: JournalTests.rules, tokens: tokens, journal: .together) {
            gateway async throws in
            try await gateway.client(token: ben.secret) { client async throws in
                try await Self.refuse(client)
                for action in ["resend", "drop"] {
                    #expect(try await client.post("/v1/journal/1/\(action)", "{}").status == 403)
                }
            }
            try await gateway.client(token: ann.secret) { client async throws in
                func count(_ query: String) async throws -> Int? {
                    try await client.get("/v1/journal?refused=true\(query)").json()["entries"]?.array.count
                }
                #expect(try await count("") == 1)
                let dropped = try await client.post("/v1/journal/1/drop", "{}")
                #expect(dropped.status == 200, "\(dropped.text)")
                let mark = try dropped.json()["refused"]?["dropped"]
                #expect(mark?["by"]?.text == "ann" && mark?["at"]?.text?.hasSuffix("Z") == true, "\(dropped.text)")
                #expect(try await client.post("/v1/journal/1/drop", "{}").json()["refused"]?["dropped"] == mark)
                #expect(try await count("") == 0)
                #expect(try await count("&settled=true") == 1)
                let resend = try await client.post("/v1/journal/1/resend", "{}")
                #expect(resend.status == 409 && resend.text.contains("by ann"), "\(resend.text)")
                #expect(try await client.post("/v1/journal/99/drop", "{}").status == 404)
            }
        }
    }

    @Test(
        "The merged edits of a push are not sent again, and the push cannot be edited", arguments: TestEngine.allCases)
    func partial(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ async throws in
            func body(_ email: String) -> String {
                #"{"atomic":"edit","edits":[{"resource":"people","id":1,"changeset":{"person":{"points":{"old":10,"new":11}}}},"#
                    + #"{"resource":"people","id":2,"changeset":{"person":{"email":{"old":"b@x","new":"\#(email)"}}}}]}"#
            }
            #expect(try await client.post("/v1/push", body("a@x")).status == 207)
            let number = try await client.get("/v1/journal?refused=true").json()["entries"]?.array.first?["number"]?.int
            let path = "/v1/journal/\(number ?? 0)/resend"
            // An edited push could send a merged edit at another place, or for another record.
            let edited = try await client.post(path, #"{"body":\#(body("d@x"))}"#)
            #expect(try edited.json()["code"]?.text == "not-replayable", "\(edited.text)")
            try await Self.free(client)
            let resent = try await client.post(path, "{}")
            #expect(resent.status == 200, "\(resent.text)")
            #expect(try await Self.person(1, client)?["points"]?.int == 11)
            #expect(try await Self.person(2, client)?["email"]?.text == "a@x")
        }
    }

    @Test("A push whose key took effect later is not resent", arguments: TestEngine.allCases)
    func keyTookEffect(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                try await Self.refuse(client)
                // The stored answer was pruned.
                try await database.runOnJournal(
                    "UPDATE entries SET name = NULL, request = NULL, code = NULL, answer = NULL;")
                try await Self.free(client)
                #expect(try await client.post("/v1/merge/people", Self.refused).status == 200)
                for path in ["/v1/journal/1/resend", "/v1/journal/1/resend?preview=true"] {
                    let resent = try await client.post(path, "{}")
                    #expect(resent.status == 409, "\(resent.text)")
                    #expect(try resent.json()["code"]?.text == "already-replayed")
                }
                #expect(try await Self.person(2, client)?["points"]?.int == 25)
            }
        }
    }
}
