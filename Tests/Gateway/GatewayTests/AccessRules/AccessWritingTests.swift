import Testing
import TestSupport

/// Rights to write, role by role.
@Suite(.timeLimit(.minutes(5))) struct AccessWritingTests {
    private static func expect(
        _ answer: HTTPClient.Answer, _ status: Int, _ code: String, _ path: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let body = try answer.json()
        #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
        let problem = body["problem"] ?? body
        #expect(problem["code"]?.text == code, "\(answer.text)", sourceLocation: sourceLocation)
        if status == 403 {
            #expect(body["status"]?.text == "failed" && problem["retry"]?.bool == false, sourceLocation: sourceLocation)
        }
        if let path { #expect(problem["path"]?.text == path, "\(answer.text)", sourceLocation: sourceLocation) }
    }

    @Test("A write to a group needs the right", arguments: TestEngine.allCases)
    func groups(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let applied = try await gateway.merge(
                "1", #"{"stop": {"title": {"old": "One", "new": "Uno"}}}"#, as: Rounds.ann)
            #expect(applied.status == 200 && !applied.text.contains("S1"), "\(applied.text)")
            try Self.expect(
                try await gateway.merge("1", #"{"stop": {"secret": {"old": "S1", "new": "x"}}}"#, as: Rounds.ann), 403,
                "no-right", "changeset.stop.secret")
            try Self.expect(
                try await gateway.merge(
                    "1", #"{"parcels": [{"id": 1, "label": {"old": "A", "new": "x"}}]}"#, as: Rounds.ann), 403,
                "no-right",
                "changeset.parcels[0].label")
            try Self.expect(
                try await gateway.merge("1", #"{"mark": {"remark": {"old": "R1", "new": "x"}}}"#, as: Rounds.ann), 403,
                "no-right", "changeset.mark.remark")
            // An unknown name is the first error, and reveals nothing about rows.
            try Self.expect(
                try await gateway.merge("99", #"{"stop": {"secret": {"old": "S1", "new": "x"}}}"#, as: Rounds.ann), 403,
                "no-right")
            // Lee's role that reads the stop does not write its parcels. The role that writes them does not read the
            // stop.
            try Self.expect(
                try await gateway.merge(
                    "1", #"{"parcels": [{"id": 1, "label": {"old": "A", "new": "x"}}]}"#, as: Rounds.lee), 403,
                "no-right")
            #expect(try await gateway.database.run("SELECT label FROM parcels WHERE id = 1").contains("A"))
        }
    }

    @Test("A creation needs the right", arguments: TestEngine.allCases)
    func creation(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            try Self.expect(
                try await gateway.merge(
                    #""tmp:a""#, #"{"stop": {"old": null, "new": {"title": "x"}}}"#, as: Rounds.ann),
                403, "no-right", "changeset.stop")
            // The owner comes from the token, and cannot be sent.
            try Self.expect(
                try await gateway.merge(
                    #""tmp:a""#, #"{"stop": {"old": null, "new": {"title": "x", "owner": "lee"}}}"#, as: Rounds.kim),
                403,
                "no-right", "changeset.stop.new.owner")
            let made = try await gateway.merge(
                #""tmp:a""#,
                #"{"stop": {"old": null, "new": {"title": "x"}}, "parcels": [{"id": -1, "old": null, "new": {"label": "p"}}]}"#,
                as: Rounds.kim)
            #expect(made.status == 200, "\(made.text)")
            #expect(try made.json()["record"]?["stop"]?["owner"]?.text == "kim", "\(made.text)")
            let free = try await gateway.merge(
                #""tmp:a""#, #"{"stop": {"old": null, "new": {"title": "x", "owner": "lee"}}}"#, as: Rounds.boss)
            #expect(free.status == 200, "\(free.text)")
        }
    }

    @Test("A write cannot move a row out of the client's rows", arguments: TestEngine.allCases)
    func moves(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let within = try await gateway.merge("1", #"{"stop": {"area": {"old": 1, "new": 2}}}"#, as: Rounds.ann)
            #expect(within.status == 200, "\(within.text)")
            try Self.expect(
                try await gateway.merge("1", #"{"stop": {"area": {"old": 2, "new": 3}}}"#, as: Rounds.ann), 403,
                "outside-rows")
            // If one edit moves a record out, the whole push is rolled back.
            let push = try await gateway.post(
                "/v1/push",
                #"{"edits": [{"resource": "stops", "id": 2, "changeset": {"stop": {"title": {"old": "Two", "new": "x"}}}}, "#
                    + #"{"resource": "stops", "id": 1, "changeset": {"stop": {"area": {"old": 2, "new": null}}}}]}"#,
                as: Rounds.ann)
            #expect(push.status == 403, "\(push.text)")
            let partly = try await gateway.post(
                "/v1/push",
                #"{"atomic": "edit", "edits": [{"resource": "stops", "id": 2, "changeset": {"stop": {"title": {"old": "Two", "#
                    + #""new": "y"}}}}, {"resource": "stops", "id": 1, "changeset": {"stop": {"area": {"old": 2, "new": 9}}}}]}"#,
                as: Rounds.ann)
            #expect(partly.status == 207, "\(partly.text)")
            #expect(
                try await gateway.database.run("SELECT area, title FROM stops WHERE id < 3 ORDER BY id")
                    .split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("|", with: " ")
                    == "2 One 2 y")
        }
    }

    @Test("A deletion needs only the right to delete", arguments: TestEngine.allCases)
    func deletion(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            try Self.expect(
                try await gateway.merge("1", #"{"stop": {"old": {"title": "One"}, "new": null}}"#, as: Rounds.ann), 403,
                "no-right", "changeset.stop")
            let gone = try await gateway.merge(
                "1", #"{"stop": {"old": {"title": "One"}, "new": null}}"#, as: Rounds.kim)
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await gateway.database.run("SELECT COUNT(*) FROM parcels WHERE stop_id = 1").contains("0"))
        }
    }

    /// The answer is unchanged if the client's rights are.
    ///
    /// No write is repeated.
    @Test("A stored answer is limited to the current rights", arguments: TestEngine.allCases)
    func storedAnswers(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        let before = Rounds.Client("zoe", ["keeper"])
        let after = Rounds.Client("zoe", ["driver"], claims: #"{"areas": [7]}"#)
        let body =
            #"{"key": "k", "id": "tmp:a", "changeset": {"stop": {"old": null, "new": {"title": "x", "secret": "TOP", "area": 7}}}}"#
        let first = try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: before.line, journal: .together
        ) { gateway in
            let first = try await gateway.post("/v1/merge/stops", body, as: before)
            let same = try await gateway.post("/v1/merge/stops", body, as: before)
            #expect(first.status == 200 && same.body == first.body && same.headers["idempotent-replayed"] == "true")
            return first
        }
        #expect(first.text.contains("TOP"))
        try await RunningGateway.with(database, rules: Rounds.rules, tokens: after.line, journal: .together) {
            gateway in
            let again = try await gateway.post("/v1/merge/stops", body, as: after)
            #expect(again.status == 200 && again.headers["idempotent-replayed"] == "true", "\(again.text)")
            #expect(!again.text.contains("TOP") && !again.text.contains("zoe"), "\(again.text)")
            #expect(try again.json()["ids"] == first.json()["ids"])
            #expect(try again.json()["record"]?["stop"]?["title"]?.text == "x")
            #expect(try await database.run("SELECT COUNT(*) FROM stops WHERE secret = 'TOP'").contains("1"))
        }
    }

    /// A claim that a client could not send for the column is none that fills it.
    @Test(
        "Claims fill columns like values of a client", arguments: TestEngine.allCases,
        [("1.555", 403), (#""1.555""#, 403), ("1.55", 200), (#""1.5""#, 200)])
    func claims(_ kind: TestEngine, _ claim: (amount: String, status: Int)) async throws {
        let table = "CREATE TABLE dues (id INTEGER PRIMARY KEY, amount DECIMAL(6,2), note VARCHAR(20));"
        let payer = Rounds.Client("pat", ["payer"], claims: #"{"amount": \#(claim.amount)}"#)
        try await RunningGateway.with(
            try await TestDatabase(kind, mariadb: table, sqlite: table),
            rules: [
                "dues.yaml": """
                resource: dues
                sections: {due: {table: dues, client-keys: allow, groups: {amount: amount, note: note}}}
                access: {payer: {read: all, write: all, create: true, set: {amount: {claim: amount}}}}
                """
            ], tokens: payer.line
        ) { gateway in
            let made = try await gateway.post(
                "/v1/merge/dues", #"{"id": 1, "changeset": {"due": {"old": null, "new": {"note": "x"}}}}"#, as: payer)
            #expect(made.status == claim.status, "\(made.text)")
            if claim.status == 403 { try Self.expect(made, 403, "outside-rows") }
            let count = try await gateway.database.run("SELECT COUNT(*) FROM dues")
            #expect(count.contains(claim.status == 200 ? "1" : "0"))
        }
    }
}
