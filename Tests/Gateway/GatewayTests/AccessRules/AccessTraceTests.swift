import Foundation
import MergeService
import Testing
import TestSupport

@testable import Gateway

/// Traces of rows that do not exist for a client.
@Suite(.timeLimit(.minutes(5))) struct AccessTraceTests {
    @Test("A reference to a hidden row is refused", arguments: TestEngine.allCases)
    func references(_ kind: TestEngine) async throws {
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
            // The error that the database would report first comes first.
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

    /// The answer must not show that the large record exists.
    @Test("A hidden record that is too large is missing", arguments: TestEngine.allCases)
    func largeRecord(_ kind: TestEngine) async throws {
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

    /// No role permits reading these rows.
    @Test("Cascades to tables without rules are not reported", arguments: TestEngine.allCases)
    func unruledTables(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let body = #"{"id": 4, "changeset": {"stop": {"old": {"title": "bin"}, "new": null}}}"#
            let reported = try await gateway.post("/v1/merge/stops?preview=true", body, as: DeliveryStops.office)
            #expect(reported.text.contains("HIDDEN@mail"), "\(reported.text)")
            let answer = try await gateway.post("/v1/merge/stops", body, as: DeliveryStops.both)
            #expect(answer.status == 200 && !answer.text.contains("HIDDEN"), "\(answer.text)")
        }
    }

    @Test("Conditions on numbers hide changes", arguments: TestEngine.allCases)
    func numbers(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let position = try await gateway.client(token: DeliveryStops.driver.secret) { try await $0.position() }
            for (id, text) in [(2, "HIDDEN-G"), (1, "g")] {
                let merged = try await gateway.post(
                    "/v1/merge/gauges",
                    #"{"id": \#(id), "changeset": {"gauge": {"txt": {"old": "\#(text)", "new": "z"}}}}"#,
                    as: DeliveryStops.office)
                #expect(merged.status == 200, "\(merged.text)")
            }
            let reported = try await gateway.client(token: DeliveryStops.driver.secret) {
                try await $0.changes(after: position, until: ["gauges/1"]).changes
            }
            #expect(reported.map(\.name) == ["gauges/1"])
        }
    }

    @Test("A push that moves a record is reported once, as the sender's", arguments: TestEngine.allCases)
    func moves(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            try await gateway.client(token: DeliveryStops.office.secret) { client in
                try await client.hasScanned()
                let position = try await client.position()
                for (old, new) in [(2, 3), (3, 4), (4, 2)] {
                    _ = try await client.push(
                        #"{"resource": "stops", "id": 2, "changeset": {"stop": {"area": {"old": \#(old), "new": \#(new)}}}}"#
                    )
                    // If the scan reports the move, it does so before the last of these changes.
                    for name in ["x", "y", "z"] {
                        let before = try await client.position()
                        try await gateway.database.run("UPDATE stops SET title = '\(name)\(new)' WHERE id = 4;")
                        _ = try await client.changes(after: before, until: ["stops/4"])
                    }
                }
                let all = try await client.changes(after: position)["changes"]?.array ?? []
                #expect(all.first { $0.name == "stops/2" }?["by"]?["who"]?.text == "off", "\(all)")
                // A move by another program is reported after a push of another value.
                let before = try await client.position()
                _ = try await client.push(
                    #"{"resource": "stops", "id": 3, "changeset": {"stop": {"title": {"old": "third", "new": "t"}}}}"#)
                try await gateway.database.run("UPDATE stops SET area = 5 WHERE id = 3;")
                var reported: JSON?
                var at = before
                while reported?["by"]?.isNull != true {
                    let found = try await client.changes(after: at, until: ["stops/3"])
                    (reported, at) = (found.changes.last { $0.name == "stops/3" }, found.position)
                }
                #expect(reported?["record"]?["stop"]?["area"]?.int == 5)
            }
        }
    }

    /// The name of a visible field counts, not its position.
    @Test("Other visible fields have another feed", arguments: TestEngine.allCases)
    func otherFields(_ kind: TestEngine) async throws {
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
