import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// Decisions on rows, as a table without reads of the database.
@Suite(.timeLimit(.minutes(1))) struct RowEvaluationTests {
    private static func order(_ state: String) -> [Value] { [.integer(1), .word(state), .integer(10)] }

    /// Decides an edit of order 1 from `new` to `paid`, or its deletion.
    private static func decide(
        _ book: OrderBook, deleting: Bool = false, current: [Value]?,
        knowing facts: @escaping @Sendable (inout Facts) -> Void = { _ in }
    ) async throws -> String {
        let key = RowID(RecordKey([.integer(1)]))
        let edit =
            deleting
            ? Edit(
                resource: book.orders, id: key,
                rows: [RowEdit(section: 0, id: key, action: .delete([]), path: WirePath("order"))],
                path: WirePath("edits"))
            : book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid"))
        return try await book.run([[edit]]) { stages in
            let row = stages.row(0)
            var known = Facts(stages.run)
            facts(&known)
            let view = FactView(run: stages.run, facts: known, changes: RowChanges(), keys: CreatedKeys())
            let found = FoundRow(current.map { .present($0) } ?? .gone(lastKnown: [:]))
            var budget = WorkBudget.push
            do throws(DecidingStop) {
                let decision = try RowEvaluation(
                    row: row, action: row.edit.action, found: found, root: current, report: EditReport(edit),
                    facts: view
                ).decision(spending: &budget)
                return decision.outcomes.map { "\($0.kind)" + ($0.isConflict ? "!" : "") }.joined(separator: " ")
            } catch {
                guard case .unanswered(let questions) = error else { throw error }
                return "asks \(questions.count)"
            }
        }
    }

    @Test("A present row is merged, and a deleted row is missing")
    func merging() async throws {
        let book = try await OrderBook()
        #expect(try await Self.decide(book, current: Self.order("new")) == "applied")
        #expect(try await Self.decide(book, current: Self.order("sent")) == "clientWon!")
        #expect(try await Self.decide(book, current: Self.order("paid")) == "already")
        #expect(try await Self.decide(book, current: nil) == "missing!")
        #expect(try await Self.decide(book, deleting: true, current: Self.order("new")) == "deleted")
    }

    @Test("The decision about a guarded row depends on whether it was frozen before the push")
    func frozen() async throws {
        let book = try await OrderBook(frozenWhen: "state = 'sent'")
        let key = RecordKey([.integer(1)])
        #expect(try await Self.decide(book, current: Self.order("sent")) == "asks 1")
        for (isFrozen, edit, deletion) in [(true, "serverWon!", "kept!"), (false, "clientWon!", "deleted")] {
            let root = book.orders.root
            let record: @Sendable (inout Facts) -> Void = { $0.before.recordFrozen(isFrozen, key, of: root) }
            #expect(try await Self.decide(book, current: Self.order("sent"), knowing: record) == edit)
            #expect(
                try await Self.decide(book, deleting: true, current: Self.order("sent"), knowing: record) == deletion)
        }
    }

    @Test("A decision that waits for a fact spends no work")
    func budget() async throws {
        let book = try await OrderBook(frozenWhen: "state = 'sent'")
        let edit = book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid"))
        let isSpent = try await book.run([[edit]]) { stages in
            let row = stages.row(0)
            let view = FactView(
                run: stages.run, facts: Facts(stages.run), changes: RowChanges(), keys: CreatedKeys())
            var budget = WorkBudget.push
            _ = try? RowEvaluation(
                row: row, action: row.edit.action, found: FoundRow(.present(Self.order("new"))),
                root: Self.order("new"), report: EditReport(edit), facts: view
            ).decision(spending: &budget)
            return "\(budget)" != "\(WorkBudget.push)"
        }
        #expect(!isSpent)
    }
}
