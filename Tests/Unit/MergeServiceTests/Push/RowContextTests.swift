import MergeCore
import Testing

@testable import MergeService

/// The rows on which edits are decided, as they were read.
@Suite(.timeLimit(.minutes(1))) struct RowContextTests {
    private static func key(_ number: Int) -> RecordKey { RecordKey([.integer(Int128(number))]) }

    private static func row(_ number: Int, _ state: String) -> [Value] {
        [.integer(Int128(number)), .word(state), .integer(0)]
    }

    private static let id = SectionID(resource: "orders", section: 0)

    @Test("A search finds a row, finds none, or has not been made")
    func threeAnswers() async throws {
        let book = try await OrderBook()
        var context = RowContext()
        let isStored = context.store(
            [Self.row(1, "new")], askedFor: [Self.key(1), Self.key(2)], of: book.orders.root, as: Self.id, at: 3)
        #expect(isStored)
        #expect(context[Self.id, Self.key(1)]?.row == Self.row(1, "new"))
        #expect(context[Self.id, Self.key(1)]?.time == 3)
        let missing = try #require(context[Self.id, Self.key(2)])
        #expect(missing.row == nil)
        #expect(context[Self.id, Self.key(3)] == nil)
    }

    @Test("A later read replaces the row, also by none")
    func laterRead() async throws {
        let book = try await OrderBook()
        var context = RowContext()
        for (rows, time) in [([Self.row(1, "new")], 1), ([Self.row(1, "paid")], 2), ([], 3)] {
            let isStored = context.store(
                rows, askedFor: [Self.key(1)], of: book.orders.root, as: Self.id, at: time)
            #expect(isStored)
            #expect(context[Self.id, Self.key(1)]?.row == rows.first)
            #expect(context[Self.id, Self.key(1)]?.time == time)
        }
    }

    @Test("Two rows of one key are refused, and the earlier rows remain")
    func twoRowsOfOneKey() async throws {
        let book = try await OrderBook()
        var context = RowContext()
        let first = context.store(
            [Self.row(1, "new")], askedFor: [Self.key(1)], of: book.orders.root, as: Self.id, at: 1)
        let second = context.store(
            [Self.row(1, "paid"), Self.row(1, "sent")], askedFor: [Self.key(1)], of: book.orders.root, as: Self.id,
            at: 2)
        #expect(first && !second)
        #expect(context[Self.id, Self.key(1)]?.row == Self.row(1, "new"))
    }

    @Test("Two resources of one table have separate rows")
    func twoResourcesOfOneTable() async throws {
        let book = try await OrderBook()
        var context = RowContext()
        let line: [Value] = [.integer(1), .integer(1), .word("tea")]
        let list = SectionID(resource: "orders", section: 1)
        let root = SectionID(resource: "lines", section: 0)
        let isStored = context.store(
            [line], askedFor: [Self.key(1)], of: book.orders.sections[1], as: list, at: 1)
        #expect(isStored)
        #expect(context[list, Self.key(1)]?.row == line)
        #expect(context[root, Self.key(1)] == nil)
    }
}

/// Names of rows by their tables.
@Suite(.timeLimit(.minutes(1))) struct RowNameTests {
    @Test("Two sections of one table with the same key columns have one name; other tables have another")
    func names() async throws {
        let book = try await OrderBook()
        let key = RecordKey([.integer(1)])
        let (list, root) = (book.orders.sections[1], book.lines.root)
        #expect(RowName(key, in: list) == RowName(key, in: root))
        #expect(RowName(key, in: list) != RowName(key, in: book.orders.root))
        #expect(
            RowName(key, in: list) != RowName(RecordKey([.integer(2)]), in: list))
    }
}
