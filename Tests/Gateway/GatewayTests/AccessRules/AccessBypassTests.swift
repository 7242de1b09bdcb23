import Testing
import TestSupport

/// Ways around rights to write, and around guards of rows.
@Suite(.timeLimit(.minutes(5))) struct AccessBypassTests {
    /// Merges as the office, and returns the number of the entry.
    private static func entry(
        _ gateway: RunningGateway, _ resource: String, _ body: String
    ) async throws -> Int {
        let answer = try await gateway.post("/v1/merge/\(resource)", body, as: DeliveryStops.office)
        try #require(answer.status == 200, "\(answer.text)")
        let page = try await gateway.get("/v1/journal?limit=100", as: DeliveryStops.office).json()
        return try #require(page["entries"]?.array.compactMap { $0["number"]?.int }.max(), "\(page)")
    }

    @Test("An undo obeys the access rules", arguments: TestEngine.allCases)
    func undo(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let number = try await Self.entry(
                gateway, "stops",
                #"{"id": 2, "changeset": {"stop": {"title": {"old": "HIDDEN-T", "new": "HIDDEN-2"}}}}"#)
            for query in ["?preview=true", ""] {
                let undone = try await gateway.post("/v1/journal/\(number)/undo\(query)", "{}", as: DeliveryStops.chief)
                #expect(undone.status == 403 && !undone.text.contains("HIDDEN"), "\(undone.text)")
            }
            #expect(try await gateway.database.run("SELECT title FROM stops WHERE id = 2").contains("HIDDEN-2"))
            // A finished stop is not written any more, not even by an undo.
            let step = #"{"id": 3, "changeset": {"stop": {"st": {"old": "new", "new": "done"}}}}"#
            let done = try await Self.entry(gateway, "stops", step)
            let undone = try await gateway.post("/v1/journal/\(done)/undo", "{}", as: DeliveryStops.office)
            #expect(try undone.json()["outcomes"]?[0]?["outcome"]?.text == "server-won", "\(undone.text)")
            #expect(try await gateway.database.run("SELECT st FROM stops WHERE id = 3").contains("done"))
            // Values that the operator may read and write are undone.
            let own = try await Self.entry(
                gateway, "stops", #"{"id": 1, "changeset": {"stop": {"title": {"old": "mine", "new": "ours"}}}}"#)
            let back = try await gateway.post("/v1/journal/\(own)/undo", "{}", as: DeliveryStops.chief)
            #expect(back.status == 200, "\(back.text)")
            #expect(try await gateway.database.run("SELECT title FROM stops WHERE id = 1").contains("mine"))
        }
    }

    @Test("A client that reads everything gets the name that it meant, and another client does not")
    func wrongNames() async throws {
        try await DeliveryStops.with(.sqlite) { gateway in
            let changeset = #"{"stop": {"titel": {"old": "a", "new": "b"}}}"#
            let office = try await gateway.merge("1", changeset, as: DeliveryStops.office)
            #expect(office.status == 400 && office.text.contains("did you mean “title”"), "\(office.text)")
            let driver = try await gateway.merge("1", changeset, as: DeliveryStops.driver)
            #expect(driver.status == 400 && !driver.text.contains("“title”"), "\(driver.text)")
        }
    }

    @Test("An item of another record is not restored", arguments: TestEngine.allCases)
    func otherItem(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            _ = try await Self.entry(
                gateway, "allnotes",
                #"{"id": 2, "changeset": {"note": {"old": {"body": "HIDDEN-BODY"}, "new": null}}}"#)
            for client in [DeliveryStops.driver, DeliveryStops.office] {
                let answer = try await gateway.merge(
                    "1", #"{"notes": [{"id": 2, "old": {"body": "x"}, "new": {"body": "y"}}]}"#, as: client)
                #expect(answer.status == 200 && !answer.text.contains("HIDDEN"), "\(answer.text)")
                #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "missing", "\(answer.text)")
            }
            // An item that any client deleted is restored if this client could read it.
            _ = try await Self.entry(
                gateway, "stops",
                #"{"id": 1, "changeset": {"notes": [{"id": 1, "old": {"body": "b"}, "new": null}]}}"#)
            let own = try await gateway.merge(
                "1", #"{"notes": [{"id": 1, "old": {"body": "b"}, "new": {"body": "z"}}]}"#, as: DeliveryStops.driver)
            #expect(try own.json()["record"]?["notes"]?[0]?["price"]?.text == "p", "\(own.text)")
        }
    }

    @Test("Two roles together do not allow a deletion", arguments: TestEngine.allCases)
    func twoRoles(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let move = #"{"resource": "stops", "id": 3, "changeset": {"stop": {"area": {"old": 1, "new": 9}}}}"#
            let delete =
                #"{"resource": "stops", "id": 3, "changeset": {"stop": {"old": {"title": "third"}, "new": null}}}"#
            for atomic in ["push", "edit"] {
                let answer = try await gateway.post(
                    "/v1/push", #"{"atomic": "\#(atomic)", "edits": [\#(move), \#(delete)]}"#, as: DeliveryStops.both)
                // The role that deletes did not apply before the push. The role that moves does not apply after it.
                #expect(answer.text.contains(atomic == "push" ? "no-right" : "outside-rows"), "\(answer.text)")
                #expect(try await gateway.database.run("SELECT area FROM stops WHERE id = 3").contains("1"))
            }
        }
    }

    @Test("A restoration needs the right to create", arguments: TestEngine.allCases)
    func restoration(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let edit = #"{"stop": {"title": {"old": "a", "new": "t"}, "area": {"old": 0, "new": 1}}}"#
            let refused = try await gateway.merge("77", edit, as: DeliveryStops.driver)
            #expect(try refused.json()["outcomes"]?.array.allSatisfy { $0["outcome"]?.text == "missing" } == true)
            #expect(try await gateway.database.run("SELECT COUNT(*) FROM stops WHERE id = 77").contains("0"))
            let made = try await gateway.merge("77", edit, as: DeliveryStops.maker)
            #expect(made.status == 200, "\(made.text)")
            #expect(try made.json()["record"]?["stop"]?["owner"]?.text == "mak", "\(made.text)")
        }
    }

    @Test("The problem names the edit that moved the record out of the role's rows", arguments: TestEngine.allCases)
    func blamedEdit(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let edits = [
                #"{"resource": "stops", "id": 1, "changeset": {"stop": {"title": {"old": "mine", "new": "ours"}}}}"#,
                #"{"resource": "stops", "id": 1, "changeset": {"stop": {"area": {"old": 1, "new": 2}}}}"#,
            ].joined(separator: ",")
            let whole = try await gateway.post("/v1/push", #"{"edits": [\#(edits)]}"#, as: DeliveryStops.driver)
            #expect(whole.text.contains("edits[1]") && whole.text.contains("outside-rows"), "\(whole.text)")
            let each = try await gateway.post(
                "/v1/push", #"{"atomic": "edit", "edits": [\#(edits)]}"#, as: DeliveryStops.driver)
            let statuses = try each.json()["results"]?.array.compactMap { $0["status"]?.text }
            #expect(statuses == ["merged", "failed"], "\(each.text)")
            #expect(try await gateway.database.run("SELECT title FROM stops WHERE id = 1").contains("ours"))
        }
    }
}
