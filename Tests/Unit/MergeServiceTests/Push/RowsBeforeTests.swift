import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// Rows as they were before the push.
@Suite(.timeLimit(.minutes(1))) struct RowsBeforeTests {
    @Test("A copy is a savepoint: it does not contain later records")
    func savepoint() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("coffee"))
        let known = try await book.run([[edit]]) { stages in
            var before = RowsBefore(stages.run)
            let saved = before
            let row = RawRow(
                values: zip(book.lines.root.columns, [Value.integer(1), .integer(1), .word("tea")]).map {
                    RawValue(column: $0, value: $1)
                })
            before.recordDeleted(row, in: book.lines.root)
            let key = RecordKey([.integer(1)])
            return [before.deletedRow(key, of: book.lines.root), saved.deletedRow(key, of: book.lines.root)].map {
                $0 != nil
            }
        }
        #expect(known == [true, false])
    }

    @Test("The last deletion of a row counts")
    func lastDeletion() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("coffee"))
        let article = try await book.run([[edit]]) { stages -> Value? in
            var before = RowsBefore(stages.run)
            for article in ["tea", "coffee"] {
                let row = RawRow(
                    values: zip(book.lines.root.columns, [Value.integer(1), .integer(1), .word(article)]).map {
                        RawValue(column: $0, value: $1)
                    })
                before.recordDeleted(row, in: book.lines.root)
            }
            return before.deletedRow(RecordKey([.integer(1)]), of: book.orders.sections[1])?.values.last?.value
        }
        #expect(article == .word("coffee"))
    }
}
