import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The only part of a run that writes rows.
@Suite(.timeLimit(.minutes(1))) struct ChangeWriterTests {
    private static func state(_ text: String) -> [Assignment] { [Assignment(column: 1, value: .word(text))] }

    @Test("Updates of different rows wait for one statement")
    func updatesWait() async throws {
        let book = try await OrderBook()
        let edits = [1, 2, 3].map { book.edit(book.orders, $0, "state", from: .word("new"), to: .word("paid")) }
        let writes = try await book.run([edits]) { stages in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            try facts.lockRoots(&writer)
            for step in stages.run.plan.steps {
                let row = stages.row(step.index)
                let current = try #require(
                    try facts.row(step.edit.id.key, at: row.place, for: step, &writer))
                try writer.update(Self.state("paid"), of: row, current: current)
            }
            let before = stages.session.writes
            try writer.flush()
            return [before, stages.session.writes]
        }
        #expect(writes == [0, 1])
    }

    @Test("A second update of a row is written after the first")
    func orderOfOneRow() async throws {
        let book = try await OrderBook()
        let edits = ["paid", "sent"].map { book.edit(book.orders, 1, "state", from: .word("new"), to: .word($0)) }
        let state = try await book.run([edits]) { stages in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            for step in stages.run.plan.steps {
                let row = stages.row(step.index)
                let current = try #require(
                    try facts.row(step.edit.id.key, at: row.place, for: step, &writer))
                try writer.update(Self.state(step.index == 0 ? "paid" : "sent"), of: row, current: current)
            }
            let key = RecordKey([.integer(1)])
            return try facts.rows(of: book.orders.root, withKey: key, &writer).first?[1]
        }
        #expect(state == .word("sent"))
    }

    @Test("A rollback to a savepoint forgets new keys and has rows read again")
    func savepoint() async throws {
        let book = try await OrderBook()
        let result = try await book.run([[book.newLine("oil", of: 1, as: "tmp:a")]]) { stages in
            var writer = ChangeWriter(stages.run)
            try writer.setSavepoint()
            let saved = writer
            let new = [Assignment(column: 1, value: .integer(1)), Assignment(column: 2, value: .word("oil"))]
            let key = try writer.insert(new, extras: [], as: stages.row(0))
            let named = writer.keys.reference(TemporaryID("tmp:a"))
            let time = writer.changes.now
            try writer.rollBack(to: saved)
            return (
                key.parts.first == named, writer.keys.reference(TemporaryID("tmp:a")) == nil, writer.inserted.isEmpty,
                writer.changes.now > time
            )
        }
        #expect(result == (true, true, true, true))
    }

    @Test("Writes to tables without transactions are compensated, the last first")
    func compensations() async throws {
        let book = try await OrderBook(isTransactional: false)
        let edits = ["paid", "sent"].map { book.edit(book.orders, 1, "state", from: .word("new"), to: .word($0)) }
        let state = try await book.run([edits]) { stages in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            let key = RecordKey([.integer(1)])
            for (index, text) in ["paid", "sent"].enumerated() {
                let current = try #require(try facts.rows(of: book.orders.root, withKey: key, &writer).first)
                try writer.update(Self.state(text), of: stages.row(index), current: current)
            }
            try writer.compensate()
            return try facts.rows(of: book.orders.root, withKey: key, &writer).first?[1]
        }
        #expect(state == .word("new"))
    }

    @Test("A refused statement ends a run without savepoints; the next run names the edit of its row")
    func refusal() async throws {
        let book = try await OrderBook()
        let edits = [
            book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid")),
            book.newLine("tea", of: 2, as: "tmp:a"),
        ]
        for isEditByEdit in [false, true] {
            let refused = try await book.run([edits], edits: isEditByEdit) { stages -> EditRefusal? in
                var writer = ChangeWriter(stages.run)
                try writer.setSavepoint()
                let new = [Assignment(column: 1, value: .integer(2)), Assignment(column: 2, value: .word("tea"))]
                do throws(PushStop) {
                    _ = try writer.insert(new, extras: [], as: stages.row(1))
                    return nil
                } catch {
                    switch error {
                    case .again(.editByEdit): return nil
                    case .refused(let refusal): return refusal
                    default: throw error
                    }
                }
            }
            #expect(refused?.edit == (isEditByEdit ? 1 : nil))
            #expect(refused?.problem.code == (isEditByEdit ? .unique : nil))
        }
    }

    @Test("No statement follows a refused one before a rollback, and the writes before it remain")
    func statementsAfterRefusal() async throws {
        let book = try await OrderBook()
        let edits = [book.newLine("oil", of: 1, as: "tmp:a"), book.newLine("tea", of: 2, as: "tmp:b")]
        for isEditByEdit in [false, true] {
            let (statements, articles) = try await book.run([edits], edits: isEditByEdit) { stages in
                var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
                try writer.setSavepoint()
                // The first insertion has the savepoint of the edit; the second one needs its own.
                for (index, article) in ["oil", "tea"].enumerated() {
                    let new = [Assignment(column: 1, value: .integer(1)), Assignment(column: 2, value: .word(article))]
                    do throws(PushStop) {
                        _ = try writer.insert(new, extras: [], as: stages.row(index))
                    } catch {
                        if case .again = error { return (stages.session.afterRefusal, 0) }
                    }
                }
                let oil = try facts.rows(of: book.lines.root, where: [2], are: [.word("oil")], &writer)
                return (stages.session.afterRefusal, oil.count)
            }
            #expect(statements == 0)
            #expect(articles == (isEditByEdit ? 1 : 0))
        }
    }

    @Test("Pushes that share a transaction never write before its end")
    func sharedTransaction() async throws {
        let book = try await OrderBook()
        let pushes = [1, 2].map { [book.edit(book.orders, $0, "state", from: .word("new"), to: .word("paid"))] }
        let isAlone = try await book.run(pushes) { stages in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            try facts.load(stages.run.plan.steps, &writer)
            let row = stages.row(0)
            let current = try #require(
                try facts.row(row.step.edit.id.key, at: row.place, for: row.step, &writer))
            try writer.update(Self.state("paid"), of: row, current: current)
            do throws(PushStop) {
                try writer.flush()
                return false
            } catch {
                if case .again(.alone) = error { return true }
                return false
            }
        }
        #expect(isAlone)
    }
}
