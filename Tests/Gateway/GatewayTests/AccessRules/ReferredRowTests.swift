import Testing
import TestSupport

@testable import Gateway

/// Access conditions on columns of referred rows, for reading and writing.
@Suite(.timeLimit(.minutes(5))) struct ReferredRowTests {
    private static func ids(_ answer: HTTPClient.Answer) throws -> [Int] {
        try answer.json()["records"]?.array.compactMap { $0["id"]?.int } ?? []
    }

    private static func caption(_ id: Int, _ gateway: RunningGateway) async throws -> String? {
        try await gateway.get("/v1/records/photos/\(id)", as: Photos.boss).json()["photo"]?["caption"]?.text
    }

    @Test("A client reads the records whose referred row matches the condition", arguments: TestEngine.allCases)
    func reading(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            for (client, shown) in [(Photos.ann, [1, 2, 4]), (Photos.bob, [3]), (Photos.lea, [7])] {
                for id in 1...7 {
                    let status = try await gateway.get("/v1/records/photos/\(id)", as: client).status
                    #expect(status == (shown.contains(id) ? 200 : 404), "\(client.name) \(id)")
                }
                #expect(try Self.ids(try await gateway.get("/v1/records/photos", as: client)) == shown)
                let snapshot = try await gateway.get("/v1/snapshot?resources=photos", as: client).text
                #expect(
                    try snapshot.split(separator: "\n").compactMap { try JSON(String($0))["id"]?.int } == shown,
                    "\(snapshot)")
            }
            let page = try await gateway.get("/v1/records/photos?limit=1&after=1", as: Photos.ann)
            #expect(try Self.ids(page) == [2], "\(page.text)")
            let photo = try await gateway.get("/v1/records/photos/1", as: Photos.ann).text
            #expect(!photo.contains("technician") && !photo.contains("ann"), "\(photo)")
            // One role reads all captions, the other the photos of the client's orders.
            let caption = try await gateway.get("/v1/records/photos/3", as: Photos.kim).text
            #expect(caption.contains(#""caption":"c""#) && !caption.contains("order"), "\(caption)")
            #expect(try Self.ids(try await gateway.get("/v1/records/photos", as: Photos.kim)) == Array(1...7))
            #expect(try Self.ids(try await gateway.get("/v1/records/scans", as: Photos.ann)) == [1])
            // No row has the number 9.
            #expect(try Self.ids(try await gateway.get("/v1/records/scans", as: Photos.sue)) == [3])
        }
    }

    @Test("A client creates records only of rows that it can read", arguments: TestEngine.allCases)
    func creating(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            func create(_ order: String, _ resource: String = "photos", _ id: String = #""tmp:a""#) async throws
                -> HTTPClient.Answer
            {
                try await gateway.push(
                    Photos.creation(resource, id, #"{"order":\#(order),"caption":"n"}"#), as: Photos.ann)
            }
            let own = try await create("1")
            #expect(own.status == 200 && own.text.contains(#""outcome":"inserted""#), "\(own.text)")
            #expect(own.text.contains(#""order":1"#), "\(own.text)")
            let hidden = try await create("2")
            let missing = try await create("99")
            #expect(hidden.status == 422 && missing.status == 422, "\(hidden.text) \(missing.text)")
            #expect(try hidden.json()["results"]?.array.first?["problem"]?["code"]?.text == "foreign-key")
            let none = try await create("null")
            #expect(none.status == 403 && none.text.contains("outside-rows"), "\(none.text)")
            #expect(try await create("1", "scans", "11").status == 200)
            for order in ["2", "99", "null"] {
                let answer = try await create(order, "scans", "12")
                #expect(answer.status == 403 || answer.status == 422, "\(answer.text)")
            }
            #expect(try Self.ids(try await gateway.get("/v1/records/scans", as: Photos.boss)) == [1, 2, 3, 11])
            #expect(try Self.ids(try await gateway.get("/v1/records/photos", as: Photos.boss)).count == 8)
            // A record and the row that it refers to, in one push.
            let both = try await gateway.push(
                Photos.creation("orders", "20", #"{"technician":"lea"}"#),
                Photos.creation("photos", #""tmp:b""#, #"{"order":20}"#), as: Photos.boss)
            #expect(both.status == 200, "\(both.text)")
            #expect(try Self.ids(try await gateway.get("/v1/records/photos", as: Photos.lea)).count == 2)
        }
    }

    @Test("A client writes records of its rows, and moves them among its rows", arguments: TestEngine.allCases)
    func writing(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            func push(_ edits: String...) async throws -> HTTPClient.Answer {
                try await gateway.post(
                    "/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#, as: Photos.ann)
            }
            #expect(try await push(Photos.edit("photos", 1, "caption", #""a""#, #""A""#)).status == 200)
            let hidden = try await push(Photos.edit("photos", 3, "caption", #""c""#, #""C""#)).text
            let absent = try await push(Photos.edit("photos", 99, "caption", #""c""#, #""C""#)).text
            #expect(hidden.contains(#""outcome":"missing""#), "\(hidden)")
            #expect(hidden.replacing(#""id":3"#, with: #""id":99"#) == absent, "\(hidden)")
            let moved = try await push(
                #"{"resource":"photos","id":1,"changeset":{"photo":{"order":{"old":1,"new":3}},"#
                    + #""tags":[{"id":"tmp:t","old":null,"new":{"word":"w"}}]}}"#)
            #expect(moved.status == 200 && moved.text.contains(#""word":"w""#), "\(moved.text)")
            let given = try await push(Photos.edit("photos", 2, "order", "1", "2"))
            #expect(given.status == 422 && given.text.contains("foreign-key"), "\(given.text)")
            let dropped = try await push(Photos.edit("photos", 2, "order", "1", "null"))
            #expect(dropped.status == 403 && dropped.text.contains("outside-rows"), "\(dropped.text)")
            let there = try await push(
                Photos.edit("photos", 2, "order", "1", "null"), Photos.edit("photos", 2, "order", "null", "3"))
            #expect(there.status == 403, "\(there.text)")
            let tag = try await push(
                #"{"resource":"photos","id":3,"changeset":{"tags":[{"id":"tmp:t","old":null,"new":{"word":"w"}}]}}"#)
            #expect(tag.text.contains(#""outcome":"missing""#), "\(tag.text)")
            let gone = try await push(Photos.deletion("photos", 4, #"{"order":3,"caption":"d"}"#))
            #expect(gone.text.contains(#""outcome":"deleted""#), "\(gone.text)")
            let other = try await push(Photos.deletion("photos", 3, #"{"order":2,"caption":"c"}"#))
            #expect(other.text.contains(#""outcome":"already""#), "\(other.text)")
            #expect(try await Self.caption(3, gateway) == "c")
            // The row decides about another role: every caption is read, none is written.
            let denied = try await gateway.push(
                Photos.edit("photos", 3, "caption", #""c""#, #""C""#), as: Photos.kim)
            #expect(denied.status == 403 && denied.text.contains("no-right"), "\(denied.text)")
        }
    }

    @Test("A push that writes the referred row has the rights before and after it", arguments: TestEngine.allCases)
    func onePush(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            func push(_ edits: String..., atomic: String = "push") async throws -> HTTPClient.Answer {
                try await gateway.post(
                    "/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#, as: Photos.lea)
            }
            func caption(_ id: Int, _ old: String, _ new: String) -> String {
                Photos.edit("photos", id, "caption", #""\#(old)""#, #""\#(new)""#)
            }
            let away = try await push(caption(7, "g", "h"), Photos.hand(5, from: "lea", to: "bob"))
            #expect(away.status == 403 && away.text.contains("outside-rows"), "\(away.text)")
            #expect(try away.json()["results"]?.array.last?["problem"]?["code"]?.text == "outside-rows", "\(away.text)")
            let brought = try await push(Photos.hand(2, from: "bob", to: "lea"), caption(3, "c", "C"))
            #expect(brought.status != 200, "\(brought.text)")
            #expect(try await Self.caption(3, gateway) == "c")
            #expect(try await Self.caption(7, gateway) == "g")
            let back = try await push(
                Photos.hand(5, from: "lea", to: "bob"), Photos.hand(5, from: "bob", to: "lea"), caption(7, "g", "h"))
            #expect(back.status == 200 && back.text.contains(#""caption":"h""#), "\(back.text)")
            let lost = try await push(Photos.hand(5, from: "lea", to: "bob"), caption(7, "h", "i"))
            #expect(lost.text.contains(#""outcome":"missing""#), "\(lost.text)")
            #expect(try await Self.caption(7, gateway) == "h")
            try await gateway.write(Photos.hand(5, from: "bob", to: "lea"))
            // With edits that succeed or fail alone, the edit that moves the photo out is refused.
            let each = try await push(
                caption(7, "h", "j"), Photos.hand(5, from: "lea", to: "bob"), atomic: "edit")
            #expect(each.text.contains("outside-rows"), "\(each.text)")
            #expect(try await Self.caption(7, gateway) == "j")
        }
    }

    @Test("A row decides about rows of the same table", arguments: TestEngine.allCases)
    func ownTable(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            let note = Photos.edit("staff", 2, "note", #""y""#, #""z""#)
            let lost = try await gateway.push(
                Photos.edit("staff", 1, "name", #""lea""#, #""bob""#), note, as: Photos.lea)
            #expect(lost.text.contains(#""outcome":"missing""#), "\(lost.text)")
            let record = try await gateway.get("/v1/records/staff/2", as: Photos.boss).text
            #expect(record.contains(#""note":"y""#), "\(record)")
            try await gateway.write(Photos.edit("staff", 1, "name", #""bob""#, #""lea""#))
            #expect(try await gateway.push(note, as: Photos.lea).status == 200)
        }
    }

    @Test(
        "An operator reads no values of a record whose referred row belongs to another client",
        arguments: TestEngine.allCases)
    func journal(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            try await gateway.write(Photos.edit("photos", 7, "caption", #""g""#, #""mine""#))
            try await gateway.write(Photos.edit("photos", 1, "caption", #""a""#, #""other""#))
            let own = try await gateway.get("/v1/journal?resource=photos&id=7", as: Photos.lea).json()
            let entries = try await gateway.get("/v1/journal?resource=photos&id=1", as: Photos.lea).json()
            var texts: [String] = []
            for list in [own, entries] {
                let number = list["entries"]?.array.first?["number"]?.int ?? 0
                texts.append(try await gateway.get("/v1/journal/\(number)", as: Photos.lea).text)
            }
            #expect(texts[0].contains("mine"), "\(texts)")
            #expect(!texts[1].contains("other") && !texts[1].contains(#""ann""#), "\(texts)")
        }
    }

    /// Otherwise the other program could change the row between the decision and the commit.
    @Test("A push waits for a write of the row that decides about its record", .tags(.mariadb), .needsMariaDB)
    func waiting() async throws {
        try await Photos.run(on: Photos.database(.mariadb), configure: { $0.requestSeconds = 2 }) { gateway in
            let edit = Photos.edit("photos", 1, "caption", #""a""#, #""A""#)
            let creation = Photos.creation("scans", "11", #"{"order":1,"caption":"n"}"#)
            let other = try gateway.database.session()
            try await other.run("BEGIN; UPDATE orders SET technician = 'bob' WHERE id = 1;")
            #expect(try await gateway.push(edit, as: Photos.ann).status == 503)
            #expect(try await gateway.push(creation, as: Photos.ann).status == 503)
            try await other.run("COMMIT;")
            let lost = try await gateway.push(edit, as: Photos.ann)
            #expect(lost.text.contains(#""outcome":"missing""#), "\(lost.text)")
            let refused = try await gateway.push(creation, as: Photos.ann)
            #expect(refused.status == 403 || refused.status == 422, "\(refused.text)")
            #expect(try await gateway.push(edit, as: Photos.bob).status == 200)
        }
    }
}
