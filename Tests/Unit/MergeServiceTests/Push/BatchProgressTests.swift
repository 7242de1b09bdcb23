import MergeCore
import Testing

@testable import MergeService

/// The results so far of the pushes of a batch.
@Suite(.timeLimit(.minutes(1))) struct BatchProgressTests {
    @Test("A rollback restores the temporary names of new rows")
    func rollback() async throws {
        let book = try await OrderBook()
        let edits = [book.newLine("oil", of: 1, as: "tmp:a"), book.newLine("tea", of: 2, as: "tmp:b")]
        let reports = try await book.run([edits], edits: true) { stages in
            let transaction = PushTransaction(stages.run)
            let isRefused = try transaction.merge() == nil
            return (isRefused, transaction.progress.reports.map { ($0.key == nil, $0.ids.isEmpty, $0.isMerged) })
        }
        #expect(reports.0)
        #expect(reports.1.map(\.0) == [true, true] && reports.1.map(\.1) == [true, true])
        #expect(reports.1.map(\.2) == [true, false])
    }

    @Test("A refused push leaves its batch, and the other pushes are merged")
    func excluded() async throws {
        let book = try await OrderBook()
        let pushes = [
            [book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("beans"))],
            [book.edit(book.orders, 2, "state", from: .word("new"), to: .word("paid"))],
        ]
        let ends = try await book.run(pushes) { stages in
            let transaction = PushTransaction(stages.run)
            do throws(PushStop) {
                return try transaction.merge() == nil ? "refused" : "\(transaction.progress.excluded)"
            } catch {
                // The unique index is checked with the common statements, so each push runs alone.
                if case .again(.editByEdit) = error { return "alone" }
                return "\(error)"
            }
        }
        #expect(ends == "alone")
    }
}
