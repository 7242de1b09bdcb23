import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The records of other resources that contain written rows.
@Suite(.timeLimit(.minutes(1))) struct OtherRecordsTests {
    private static func names(_ records: [OtherRecord]) -> [String] {
        records.map { record in
            if case .integer(let number)? = record.key.parts.first { "\(record.resource.name) \(number)" } else { "" }
        }
    }

    @Test("A line that moves changes the records of both orders")
    func movedRow() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.lines, 1, "order_no", from: .integer(1), to: .integer(2))
        let names = try await book.run([[edit]]) { stages in
            let transaction = PushTransaction(stages.run)
            _ = try transaction.merge()
            try transaction.others.findAll(transaction.progress, transaction.facts.before)
            return Self.names(transaction.others.changed(by: 0))
        }
        #expect(names == ["orders 1", "orders 2"])
    }

    @Test("A new line changes the record of its order, and a changed order none of its lines")
    func newRow() async throws {
        let book = try await OrderBook()
        let edits = [
            book.newLine("oil", of: 3, as: "tmp:a"),
            book.edit(book.orders, 2, "state", from: .word("new"), to: .word("paid")),
        ]
        let names = try await book.run([edits]) { stages in
            let transaction = PushTransaction(stages.run)
            _ = try transaction.merge()
            try transaction.others.findAll(transaction.progress, transaction.facts.before)
            return [0, 1].map { Self.names(transaction.others.changed(by: $0)) }
        }
        #expect(names == [["orders 3"], []])
    }

    @Test("A refused edit of `atomic: edit` reports no other record")
    func refusedEdit() async throws {
        let failing = RowCheck(
            name: "no coffee", sql: "total < 100", fields: [1], onFailure: .reject,
            rule: RuleReference(file: "rules.yaml", line: 1))
        let book = try await OrderBook(checks: [failing])
        let edits = [
            book.newLine("tea", of: 3, as: "tmp:a"),
            book.edit(book.lines, 2, "article", from: .word("rice"), to: .word("oats")),
        ]
        let found = try await book.run([edits], atomicity: .edit) { stages in
            let transaction = PushTransaction(stages.run)
            _ = try transaction.merge()
            try transaction.others.findAll(transaction.progress, transaction.facts.before)
            return (
                transaction.progress.reports.map(\.isMerged),
                [0, 1].map { Self.names(transaction.others.changed(by: $0)) }
            )
        }
        #expect(found.0 == [false, true])
        #expect(found.1 == [[], ["orders 1"]])
    }
}
