import MergeCore
import Testing

@testable import MergeService

/// Questions that one statement answers.
@Suite(.timeLimit(.minutes(1))) struct QuestionBatchesTests {
    private static func key(_ number: Int) -> RecordKey { RecordKey([.integer(Int128(number))]) }

    @Test("Questions of one kind and section form a batch, and a repeated question counts once")
    func batches() async throws {
        let book = try await OrderBook(hasDelivery: true)
        let (order, line, delivery) = (
            SectionPlace(book.orders, 0), SectionPlace(book.orders, 1), SectionPlace(book.orders, 2)
        )
        let batches = QuestionBatches([
            .row(order, Self.key(1)), .row(line, Self.key(1)), .row(order, Self.key(2)), .row(order, Self.key(1)),
            .singleton(delivery, link: [.integer(1)]), .singleton(delivery, link: [.integer(2)]),
            .identity(line, columns: [2], values: [.word("tea")]),
            .identity(line, columns: [1], values: [.integer(1)]),
            .identity(line, columns: [2], values: [.word("rice")]),
            .frozen(order, Self.key(1)), .frozen(order, Self.key(2)), .hidden(order, Self.key(1)),
        ])
        #expect(batches.rows.map(\.0) == [order, line])
        #expect(batches.rows.map(\.1) == [[Self.key(1), Self.key(2)], [Self.key(1)]])
        #expect(batches.singletons.map(\.1) == [[[.integer(1)], [.integer(2)]]])
        #expect(batches.identities.map(\.0.columns) == [[2], [1]])
        #expect(batches.identities.map(\.1) == [[[.word("tea")], [.word("rice")]], [[.integer(1)]]])
        #expect(batches.frozen.map(\.1) == [[Self.key(1), Self.key(2)]])
        #expect(batches.others == [.hidden(order, Self.key(1))])
    }

    @Test("Two resources of one table have separate batches")
    func twoResourcesOfOneTable() async throws {
        let book = try await OrderBook()
        let (list, root) = (SectionPlace(book.orders, 1), SectionPlace(book.lines, 0))
        let batches = QuestionBatches([.row(list, Self.key(1)), .row(root, Self.key(1))])
        #expect(batches.rows.map(\.0) == [list, root])
    }
}
