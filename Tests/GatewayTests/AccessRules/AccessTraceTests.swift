import Foundation
import MergeService
import Testing
import TestSupport

@testable import Gateway

/// Traces that rows leave which do not exist for a client.
@Suite(.timeLimit(.minutes(5))) struct AccessTraceTests {
    @Test(arguments: TestEngine.allCases) func aHiddenRowCannotBeReferredTo(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            func same(_ path: String, _ body: (String) -> String, _ hidden: String, _ missing: String) async throws {
                for query in ["?preview=true", ""] {
                    var texts: [String] = []
                    for value in [hidden, missing] {
                        let answer = try await gateway.post(
                            "/v1/merge/\(path)\(query)", body(value), as: DeliveryStops.driver)
                        #expect(answer.status == 422, "\(path) \(value): \(answer.text)")
                        texts.append(answer.text.replacingOccurrences(of: #""id":\#(value),"#, with: ""))
                    }
                    #expect(texts[0] == texts[1])
                }
            }
            try await same(
                "details", { #"{"id": \#($0), "changeset": {"detail": {"old": null, "new": {"txt": "x"}}}}"# }, "2",
                "99")
            try await same(
                "visits", { #"{"id": 1, "changeset": {"visit": {"code": {"old": null, "new": "\#($0)"}}}}"# }, "B2",
                "Z9")
            try await same(
                "visits", { #"{"id": 1, "changeset": {"visit": {"stop": {"old": 1, "new": \#($0)}}}}"# }, "2", "99")
            // What the database would complain of first is told first.
            try await same(
                "visits",
                {
                    #"{"id": 1, "changeset": {"visit": {"stop": {"old": 1, "new": \#($0)}, "uq": {"old": "q1", "new": "q2"}}}}"#
                }, "2", "99")
            let sound = try await gateway.post(
                "/v1/merge/visits", #"{"id": 1, "changeset": {"visit": {"code": {"old": null, "new": "A3"}}}}"#,
                as: DeliveryStops.driver)
            #expect(sound.status == 200, "\(sound.text)")
        }
    }

    /// A record too large to be served does not say that it is there.
    @Test(arguments: TestEngine.allCases) func aHiddenRecordIsNotTooLarge(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: DeliveryStops.sql(.mariadb), sqlite: DeliveryStops.sql(.sqlite))
        try await database.run("INSERT INTO notes VALUES (11, 2, 'a', 'p'), (12, 2, 'a', 'p'), (13, 2, 'a', 'p');")
        let tokens = [DeliveryStops.driver, DeliveryStops.office].map(\.line).joined(separator: "\n")
        try await RunningGateway.with(
            database, rules: DeliveryStops.rules, tokens: tokens, journal: .together,
            configure: { $0.merge.rowsPerRecord = 3 }
        ) { gateway in
            #expect(try await gateway.get("/v1/records/stops/2", as: DeliveryStops.office).status == 422)
            let hidden = try await gateway.get("/v1/records/stops/2", as: DeliveryStops.driver)
            let missing = try await gateway.get("/v1/records/stops/99", as: DeliveryStops.driver)
            #expect(hidden.status == 404 && missing.status == 404, "\(hidden.text)")
            var merged: [String] = []
            for id in [2, 99] {
                let edit = #"{"stop": {"title": {"old": "a", "new": "b"}}}"#
                let answer = try await gateway.merge("\(id)", edit, as: DeliveryStops.driver)
                merged.append("\(answer.status) \(answer.text.replacingOccurrences(of: "\"id\":\(id),", with: ""))")
            }
            #expect(merged[0] == merged[1])
        }
    }

    /// Rows of tables that no rule names go along, and whose they are is nobody's business.
    @Test(arguments: TestEngine.allCases) func cascadesOfUnruledTablesAreNotTold(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let body = #"{"id": 4, "changeset": {"stop": {"old": {"title": "bin"}, "new": null}}}"#
            let told = try await gateway.post("/v1/merge/stops?preview=true", body, as: DeliveryStops.office)
            #expect(told.text.contains("HIDDEN@mail"), "\(told.text)")
            let answer = try await gateway.post("/v1/merge/stops", body, as: DeliveryStops.both)
            #expect(answer.status == 200 && !answer.text.contains("HIDDEN"), "\(answer.text)")
        }
    }

    @Test(arguments: TestEngine.allCases) func conditionsOnNumbersHideChangesToo(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let position = try await gateway.client(token: DeliveryStops.driver.secret) { try await $0.position() }
            for (id, text) in [(2, "HIDDEN-G"), (1, "g")] {
                let merged = try await gateway.post(
                    "/v1/merge/gauges",
                    #"{"id": \#(id), "changeset": {"gauge": {"txt": {"old": "\#(text)", "new": "z"}}}}"#,
                    as: DeliveryStops.office)
                #expect(merged.status == 200, "\(merged.text)")
            }
            let told = try await gateway.client(token: DeliveryStops.driver.secret) {
                try await $0.changes(after: position, until: ["gauges/1"]).changes
            }
            #expect(told.map(\.name) == ["gauges/1"])
        }
    }

    /// A push that moves a record is told as its sender's, and not as a stranger's once more.
    @Test(arguments: TestEngine.allCases) func aMoveIsToldOnce(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            try await gateway.client(token: DeliveryStops.office.secret) { client in
                try await client.hasScanned()
                let position = try await client.position()
                for (old, new) in [(2, 3), (3, 4), (4, 2)] {
                    _ = try await client.push(
                        #"{"resource": "stops", "id": 2, "changeset": {"stop": {"area": {"old": \#(old), "new": \#(new)}}}}"#
                    )
                    // Whatever the scan has to say of the move it says before the last of these.
                    for name in ["x", "y", "z"] {
                        let before = try await client.position()
                        try await gateway.database.run("UPDATE stops SET title = '\(name)\(new)' WHERE id = 4;")
                        _ = try await client.changes(after: before, until: ["stops/4"])
                    }
                }
                let all = try await client.changes(after: position)["changes"]?.array ?? []
                #expect(all.first { $0.name == "stops/2" }?["by"]?["who"]?.text == "off", "\(all)")
                // A stranger's move behind a push of something else is told.
                let before = try await client.position()
                _ = try await client.push(
                    #"{"resource": "stops", "id": 3, "changeset": {"stop": {"title": {"old": "third", "new": "t"}}}}"#)
                try await gateway.database.run("UPDATE stops SET area = 5 WHERE id = 3;")
                var told: JSON?
                var at = before
                while told?["by"]?.isNull != true {
                    let found = try await client.changes(after: at, until: ["stops/3"])
                    (told, at) = (found.changes.last { $0.name == "stops/3" }, found.position)
                }
                #expect(told?["record"]?["stop"]?["area"]?.int == 5)
            }
        }
    }

    /// The sight of a client is known by names: another field in the same place is another thing.
    @Test(arguments: TestEngine.allCases) func otherFieldsMakeAnotherFeed(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: DeliveryStops.sql(.mariadb), sqlite: DeliveryStops.sql(.sqlite))
        var feeds: Set<String> = []
        for (groups, field) in [("{title: title, owner: owner}", "title"), ("{owner: owner, title: title}", "owner")] {
            let rules = """
                resource: stops
                sections:
                  stop: {table: stops, groups: \(groups)}
                access:
                  driver: {read: [stop.\(field)]}
                """
            feeds.insert(
                try await RunningGateway.with(
                    database, rules: ["stops.yaml": rules], tokens: DeliveryStops.driver.line, journal: .together
                ) { gateway in
                    try await gateway.client(token: DeliveryStops.driver.secret) { try await $0.position().feed }
                })
        }
        #expect(feeds.count == 2)
    }
}
