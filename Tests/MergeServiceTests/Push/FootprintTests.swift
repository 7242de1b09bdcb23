import MergeCore
import Testing

@testable import MergeService

/// The rows that a write may change besides its own row.
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

    @Test("Only columns of unique indexes decide whether rows collide")
    func uniqueColumns() async throws {
        let book = try await OrderBook()
        let isUnique = try await book.run([[book.newLine("oil", of: 1, as: "tmp:a")]]) { stages in
            [1, 2].map { stages.run.footprint(book.lines.root).writesUnique([Assignment(column: $0, value: .null)]) }
        }
        #expect(isUnique == [false, true])
    }
}
