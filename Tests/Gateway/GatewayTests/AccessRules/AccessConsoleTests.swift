import Testing
import TestSupport

@testable import Gateway

/// Operators whose roles hide a part of the data.
@Suite(.timeLimit(.minutes(3))) struct AccessConsoleTests {
    @Test(
        "A resend, a drop and trials of rules need an operator who may read everything", arguments: TestEngine.allCases)
    func hidden(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let push = #"{"id": 1, "changeset": {"visit": {"stop": {"old": 1, "new": 99}}}}"#
            let refused = try await gateway.post("/v1/merge/visits", push, as: DeliveryStops.office)
            #expect(refused.status == 422, "\(refused.text)")
            let list = try await gateway.get("/v1/journal?refused=true&order=newest", as: DeliveryStops.office)
            let number = try list.json()["entries"]?[0]?["number"]?.int ?? 0
            let dropped = try await gateway.post("/v1/journal/\(number)/drop", "{}", as: DeliveryStops.chief)
            #expect(dropped.status == 403, "\(dropped.text)")
            let resend = "/v1/journal/\(number)/resend?preview=true"
            let explain = #"{"resource": "details", "current": {"id": 1, "detail": {"txt": "x"}}}"#
            for (client, isWhole) in [(DeliveryStops.chief, false), (DeliveryStops.office, true)] {
                let answers = [
                    try await gateway.post(resend, "{}", as: client),
                    try await gateway.post("/v1/operations/explain", explain, as: client),
                    try await gateway.post("/v1/operations/rehearse", #"{"files": {"a.yaml": ""}}"#, as: client),
                    try await gateway.get("/v1/operations/rules", as: client),
                ]
                #expect(
                    answers.map { $0.status == 403 } == Array(repeating: !isWhole, count: 4), "\(answers.map(\.text))")
            }
        }
    }

    /// The journal has neither the roles nor the claims of the sender.
    @Test("A creation whose rules set columns from claims is not resent", arguments: TestEngine.allCases)
    func claims(_ kind: TestEngine) async throws {
        try await DeliveryStops.with(kind) { gateway in
            let creation =
                #"{"resource":"stops","id":50,"changeset":{"stop":{"old":null,"new":{"title":"new","area":1}}}}"#
            let taken = #"{"resource":"stops","id":1,"changeset":{"stop":{"area":{"old":1,"new":2}}}}"#
            let refused = try await gateway.push("\(creation),\(taken)", as: DeliveryStops.maker)
            #expect(refused.status == 403, "\(refused.text)")
            let list = try await gateway.get("/v1/journal?refused=true&order=newest", as: DeliveryStops.office)
            let number = try list.json()["entries"]?[0]?["number"]?.int ?? 0
            let resent = try await gateway.post("/v1/journal/\(number)/resend", "{}", as: DeliveryStops.office)
            #expect(resent.status == 422 && resent.text.contains("from the sender's claims"), "\(resent.text)")
            #expect(try await gateway.database.run("SELECT COUNT(*) FROM stops WHERE id = 50;") == "0\n")
        }
    }
}
