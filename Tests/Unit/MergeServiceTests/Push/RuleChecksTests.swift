import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The written rows that the rules' checks read after all writes.
@Suite(.timeLimit(.minutes(1))) struct RuleChecksTests {
    private static let check = RowCheck(
        name: "cheap", sql: "total < 100", fields: [1], onFailure: .reject,
        rule: RuleReference(file: "rules.yaml", line: 1))

    @Test("A failing check refuses the edit that wrote the row last", arguments: [50, 150])
    func failing(_ total: Int) async throws {
        let book = try await OrderBook(checks: [Self.check])
        let edits = [
            book.edit(book.orders, 1, "total", from: .integer(10), to: .integer(Int128(total))),
            book.edit(book.orders, 2, "state", from: .word("new"), to: .word("paid")),
        ]
        let merged = try await book.run([edits], edits: true) { stages in
            let transaction = PushTransaction(stages.run)
            let records = try transaction.merge()
            return (records != nil, transaction.progress.reports.map { $0.problem?.constraint })
        }
        #expect(merged.0 == (total < 100))
        #expect(merged.1 == [total < 100 ? nil : "cheap", nil])
    }

    @Test("Rows of removed steps are not checked")
    func dropped() async throws {
        let book = try await OrderBook(checks: [Self.check])
        let edits = [1, 2].map { book.edit(book.orders, $0, "total", from: .integer(10), to: .integer(200)) }
        let failing = try await book.run([edits]) { stages in
            var checks = RuleChecks(stages.run)
            for index in [0, 1] {
                let values: [Value] = [.integer(Int128(index + 1)), .word("new"), .integer(10)]
                checks.note(stages.row(index), values: values, before: values, traces: [])
            }
            let all = checks.rows.flatMap(\.rows).count
            checks.drop { $0.index == 0 }
            return [all, checks.rows.flatMap(\.rows).count, checks.withoutRows().rows.count]
        }
        #expect(failing == [2, 1, 0])
    }
}
