import MergeCore
import Testing

@testable import MergeService

/// The facts that a run derives from its plan before it reads.
@Suite(.timeLimit(.minutes(1))) struct RunEnvironmentTests {
    @Test("Roots are locked in one order, whatever the order of the edits")
    func orderOfRoots() async throws {
        let book = try await OrderBook()
        let edits = [
            book.edit(book.orders, 3, "state", from: .word("new"), to: .word("paid")),
            book.edit(book.lines, 2, "article", from: .word("rice"), to: .word("oats")),
            book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid")),
        ]
        for order in [edits, edits.reversed()] {
            let roots = try await book.run([order]) { stages in
                stages.run.roots.map {
                    "\($0.resource.name) \($0.keys.count) \($0.keys.first == RecordKey([.integer(1)]))"
                }
            }
            #expect(roots == ["lines 1 false", "orders 2 true"])
        }
    }

    @Test("Edits name each record once only if no two of them can share a row")
    func namedOnce() async throws {
        let book = try await OrderBook()
        func state(_ id: Int) -> Edit { book.edit(book.orders, id, "state", from: .word("new"), to: .word("paid")) }
        let cases: [([Edit], Bool)] = [
            ([state(1), state(2)], true), ([state(1), state(1)], false),
            ([book.newLine("oil", of: 1, as: "tmp:a")], false),
            ([state(1), book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("oats"))], false),
        ]
        for (edits, isOnce) in cases {
            #expect(try await book.run([edits]) { $0.run.namesEachOnce } == isOnce)
        }
    }
}
