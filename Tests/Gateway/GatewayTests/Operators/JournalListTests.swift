import Testing
import TestSupport

@testable import Operations

/// The order of journal pages, and pages of conflicts.
@Suite struct JournalListTests {
    private static func numbers(_ client: HTTPClient.Session, _ query: String) async throws -> [Int] {
        let page = try await client.get("/v1/journal?\(query)")
        #expect(page.status == 200, "\(page.text)")
        return try page.json()["entries"]?.array.compactMap { $0["number"]?.int } ?? []
    }

    /// Follows `next` from page to page.
    private static func all(_ client: HTTPClient.Session, _ query: String) async throws -> [Int] {
        var (numbers, after): ([Int], String) = ([], "")
        while true {
            let page = try await client.get("/v1/journal?\(query)\(after)").json()
            numbers += page["entries"]?.array.compactMap { $0["number"]?.int } ?? []
            guard let next = page["next"]?.text else { return numbers }
            after = "&after=\(next)"
        }
    }

    @Test("The newest entries come first, and later pages are older", arguments: TestEngine.allCases)
    func newest(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                for name in ["b", "c", "d", "e", "f"] {
                    let edit = JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"\#(name)"}}}"#)
                    #expect(try await client.post("/v1/merge/people", edit).status == 200)
                }
                #expect(try await Self.all(client, "limit=2") == [1, 2, 3, 4, 5])
                #expect(try await Self.all(client, "limit=2&order=newest") == [5, 4, 3, 2, 1])
                #expect(try await Self.all(client, "limit=2&order=oldest&conflicts=false") == [1, 2, 3, 4, 5])
                #expect(try await Self.numbers(client, "order=newest&after=3") == [2, 1])
                // The first write met no other value.
                #expect(try await Self.all(client, "conflicts=true&limit=1") == [2, 3, 4, 5])
                #expect(try await Self.all(client, "conflicts=true&limit=1&order=newest") == [5, 4, 3, 2])
                #expect(try await Self.numbers(client, "conflicts=true&group=person.points") == [])
                for wrong in ["order=up", "order=", "conflicts=1", "settled=yes", "conflicts=true&refused=true"] {
                    #expect(try await client.get("/v1/journal?\(wrong)").status == 400, "\(wrong)")
                }
            }
        }
    }

    @Test("A deletion is a conflict only if the row was changed meanwhile", arguments: TestEngine.allCases)
    func deletions(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                for (item, what) in [(1, "Beans"), (2, "Coffee")] {
                    let edit = JournalTests.edit(#"{"items":[{"id":\#(item),"old":{"what":"\#(what)"},"new":null}]}"#)
                    #expect(try await client.post("/v1/merge/people", edit).status == 200)
                }
                #expect(try await Self.numbers(client, "outcome=deleted") == [1, 2])
                #expect(try await Self.numbers(client, "conflicts=true") == [2])
            }
        }
    }

    @Test("Windows cover all numbers once, in both directions", arguments: [1, 3, 10, 11])
    func windows(_ size: Int) {
        for isBackward in [false, true] {
            var (numbers, after): ([Int], Int?) = ([], nil)
            while let window = SearchWindow(of: 5...14, after: after, isBackward: isBackward, size: size) {
                numbers += isBackward ? Array(window.range.reversed()) : Array(window.range)
                guard let next = window.next else { break }
                after = next
            }
            #expect(numbers == (isBackward ? Array((5...14).reversed()) : Array(5...14)))
        }
        for after in [Int.min, 0, 14, 15, .max] {
            let forward = SearchWindow(of: 5...14, after: after, isBackward: false, size: size)
            #expect((forward == nil) == (after >= 14), "\(after)")
            let backward = SearchWindow(of: 5...14, after: after, isBackward: true, size: size)
            #expect((backward == nil) == (after <= 5), "\(after)")
        }
    }
}
