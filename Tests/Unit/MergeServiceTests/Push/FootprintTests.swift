import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The other rows that a write may change.
@Suite(.timeLimit(.minutes(1))) struct FootprintTests {
    @Test("Two resources over one table have one name for each of its rows")
    func oneNameForARow() async throws {
        let book = try await OrderBook()
        let key = RecordKey([.integer(1)])
        let names = try await book.run([[book.newLine("oil", of: 1, as: "tmp:a")]]) { stages in
            [book.orders.sections[1], book.lines.root].map { stages.run.footprint($0).reference(to: key) }
        }
        #expect(names[0] == names[1])
        #expect(names[0].table == "lines")
    }

    @Test(
        "A condition reads other rows if it contains a query",
        arguments: [
            ("gone = 0", false), ("id IN (1, 2)", false), ("selected = 1", false),
            ("not exists (Select 1 from flags)", true), ("id in flagged", true),
        ])
    func conditions(_ sql: String, _ expected: Bool) { #expect(SQLWords.readsOtherRows(sql) == expected) }

    @Test("Only columns of unique indexes decide whether rows collide")
    func uniqueColumns() async throws {
        let book = try await OrderBook()
        let isUnique = try await book.run([[book.newLine("oil", of: 1, as: "tmp:a")]]) { stages in
            [1, 2].map { stages.run.footprint(book.lines.root).writesUnique([Assignment(column: $0, value: .null)]) }
        }
        #expect(isUnique == [false, true])
    }
}
