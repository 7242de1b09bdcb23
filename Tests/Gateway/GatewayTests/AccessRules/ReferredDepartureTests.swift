import Testing
import TestSupport

@testable import Gateway

/// Writes of referred rows move records into and out of the rows of clients.
@Suite(.timeLimit(.minutes(5))) struct ReferredDepartureTests {
    typealias Follower = AccessFeedTests.Follower

    private struct Followers {
        let ann: Follower
        let bob: Follower

        init(_ gateway: RunningGateway) async throws {
            ann = try await Follower(Photos.ann, gateway, of: "photos")
            bob = try await Follower(Photos.bob, gateway, of: "photos")
        }

        /// The reported changes of both clients, those of missing records as negative ids.
        func poll() async throws -> [[Int]] { [try await ann.poll().sorted(), try await bob.poll().sorted()] }
    }

    @Test(
        "Records move from one client to another with their referred row", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func pushes(_ kind: TestEngine, _ journal: JournalPlace) async throws {
        try await Photos.with(kind, journal: journal) { gateway in
            let both = try await Followers(gateway)
            #expect(both.ann.records.keys.sorted() == [1, 2, 4] && both.bob.records.keys.sorted() == [3])
            try await gateway.write(Photos.hand(1, from: "ann", to: "bob"))
            #expect(try await both.poll() == [[-2, -1], [1, 2]])
            // Through another resource of the same table.
            try await gateway.write(Photos.hand(1, from: "bob", to: "ann", through: "jobs"))
            #expect(try await both.poll() == [[1, 2], [-2, -1]])
            // The reference of the record itself changes.
            try await gateway.write(Photos.edit("photos", 1, "order", "1", "2"))
            #expect(try await both.poll() == [[-1], [1]])
            // Both at once.
            try await gateway.write(
                Photos.edit("photos", 1, "order", "2", "1"), Photos.hand(1, from: "ann", to: "bob"))
            #expect(try await both.poll() == [[-2], [1, 2]])
            try await gateway.write(Photos.hand(1, from: "bob", to: "kim"))
            #expect(try await both.poll() == [[], [-2, -1]])
            // A record that left a client changes again.
            try await gateway.write(Photos.edit("photos", 1, "caption", #""a""#, #""A""#))
            #expect(try await both.poll() == [[], []])
        }
    }

    @Test("A row that is moved to another client and back removes no record", arguments: TestEngine.allCases)
    func thereAndBack(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            let both = try await Followers(gateway)
            let late = try await Follower(Photos.ann, gateway, of: "photos")
            try await gateway.write(Photos.hand(1, from: "ann", to: "bob"), Photos.hand(1, from: "bob", to: "ann"))
            let once = try await both.poll()
            #expect(once[0].allSatisfy { $0 > 0 } && once[1] == [], "\(once)")
            let pushes = [("bob", "ann", "k1"), ("ann", "bob", "k2")].map { new, old, key in
                #"{"key":"\#(key)","edits":[\#(Photos.hand(1, from: old, to: new))]}"#
            }
            let sync = try await gateway.post(
                "/v1/sync", #"{"pushes":[\#(pushes.joined(separator: ","))]}"#, as: Photos.boss)
            #expect(sync.status == 200, "\(sync.text)")
            let twice = try await both.poll()
            #expect(twice[0] == [1, 2] && twice[1].allSatisfy { $0 < 0 }, "\(twice)")
            #expect(both.ann.records.keys.sorted() == [1, 2, 4] && both.bob.records.keys.sorted() == [3])
            #expect(try await late.poll().sorted() == [1, 2])
            try await gateway.write(Photos.hand(1, from: "ann", to: "bob"))
            #expect(try await late.poll().sorted() == [-2, -1])
        }
    }

    @Test(
        "A deleted row removes its records, and undo restores them", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func deletions(_ kind: TestEngine, _ journal: JournalPlace) async throws {
        try await Photos.with(kind, journal: journal) { gateway in
            let both = try await Followers(gateway)
            try await gateway.write(
                Photos.deletion("orders", 3, #"{"customer":2,"technician":"ann","title":"Three"}"#))
            #expect(try await both.poll() == [[-4], []])
            try await gateway.undo("orders", 3)
            #expect(try await both.poll() == [[4], []])
            // The database deletes the orders with their customer.
            try await gateway.write(Photos.deletion("customers", 1, #"{"name":"Shop"}"#))
            #expect(try await both.poll() == [[-2, -1], [-3]])
            try await gateway.undo("customers", 1)
            #expect(try await both.poll() == [[1, 2], [3]])
            try await gateway.write(Photos.hand(1, from: "ann", to: "bob"))
            #expect(try await both.poll() == [[-2, -1], [1, 2]])
            try await gateway.undo("orders", 1)
            #expect(try await both.poll() == [[1, 2], [-2, -1]])
        }
    }

    @Test("A reference without a foreign key may lead to no row", arguments: TestEngine.allCases)
    func looseReferences(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            let ann = try await Follower(Photos.ann, gateway, of: "scans")
            let sue = try await Follower(Photos.sue, gateway, of: "scans")
            func poll() async throws -> [[Int]] { [try await ann.poll().sorted(), try await sue.poll().sorted()] }
            try await gateway.write(Photos.creation("orders", "9", #"{"technician":"ann"}"#))
            #expect(try await poll() == [[3], [-3]])
            try await gateway.write(
                Photos.deletion("orders", 9, #"{"customer":null,"technician":"ann","title":null}"#))
            #expect(try await poll() == [[-3], [3]])
            try await gateway.undo("orders", 9)
            #expect(try await poll() == [[3], [-3]])
            try await gateway.write(Photos.edit("orders", 9, "technician", #""ann""#, "null"))
            #expect(try await poll() == [[-3], [3]])
        }
    }

    @Test("A stream of events reports departures and new records", arguments: TestEngine.allCases)
    func events(_ kind: TestEngine) async throws {
        try await Photos.with(kind) { gateway in
            let start = try await Follower(Photos.ann, gateway, of: "photos")
            try await gateway.write(Photos.hand(1, from: "ann", to: "bob"))
            let path = "/v1/changes?since=\(start.revision)&feed=\(start.feed)&resources=photos"
            let events = try await gateway.client(token: Photos.ann.secret) { client in
                #expect(try await client.open(path, ["Accept": "text/event-stream"]) == 200)
                while let piece = try await client.nextPiece() { if piece.contains("data: ") { return piece } }
                return ""
            }
            #expect(events.contains(#""id":1,"record":null"#) && events.contains(#""id":2,"record":null"#), "\(events)")
        }
    }

    @Test("A row that decides about too many records is not written", arguments: TestEngine.allCases)
    func tooMany(_ kind: TestEngine) async throws {
        let database = try await Photos.database(kind)
        let values = (100..<10_100).map { "(\($0), 1, 'p')" }
        for start in stride(from: 0, to: values.count, by: 1_000) {
            let some = values[start..<start + 1_000].joined(separator: ",")
            try await database.run("INSERT INTO photos (id, order_id, caption) VALUES \(some);")
        }
        try await Photos.run(on: database) { gateway in
            let refused = try await gateway.push(Photos.hand(1, from: "ann", to: "bob"), as: Photos.boss)
            #expect(refused.status == 422 && refused.text.contains("more than 10000 records"), "\(refused.text)")
            // Another column of the row decides about nothing.
            let title = try await gateway.push(Photos.edit("orders", 1, "title", #""One""#, #""Uno""#), as: Photos.boss)
            #expect(title.status == 200, "\(title.text)")
            try await gateway.database.run("DELETE FROM photos WHERE id >= 10000;")
            let ann = try await Follower(Photos.ann, gateway, of: "photos")
            #expect(ann.records.count == 9_903)
            try await gateway.write(Photos.hand(1, from: "ann", to: "bob"))
            #expect(try await ann.poll().count == 9_902)
            #expect(ann.records.keys.sorted() == [4])
        }
    }
}
