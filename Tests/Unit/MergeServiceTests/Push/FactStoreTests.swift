import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The only reader of a run until its checks.
@Suite(.timeLimit(.minutes(1))) struct FactStoreTests {
    @Test("A wave is read with one statement, and its rows are not read again")
    func oneStatement() async throws {
        let book = try await OrderBook()
        let edits = [1, 2, 3].map { book.edit(book.orders, $0, "state", from: .word("new"), to: .word("paid")) }
        let reads = try await book.run([edits]) { stages in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            try facts.lockRoots(&writer)
            let first = stages.session.reads
            try facts.load(stages.run.plan.steps, &writer)
            for step in stages.run.plan.steps {
                let row = stages.row(step.index)
                _ = try facts.row(step.edit.id.key, at: row.place, for: step, &writer)
            }
            return [first, stages.session.reads]
        }
        #expect(reads == [1, 1])
    }

    @Test("Questions of several edits about singletons and frozen rows need one statement each")
    func questionsTogether() async throws {
        let book = try await OrderBook(frozenWhen: "state = 'sent'", hasDelivery: true)
        let edits = [1, 2].map { book.address($0, from: "Rome", to: "Oslo") }
        let (order, delivery) = (SectionPlace(book.orders, 0), SectionPlace(book.orders, 2))
        let found = try await book.run([edits]) { stages -> (reads: Int, addresses: [Value?], frozen: [Bool?]) in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            let keys = [1, 2, 3].map { RecordKey([.integer($0)]) }
            try facts.answer(
                keys.map { .singleton(delivery, link: $0.parts) } + keys.map { .frozen(order, $0) }, &writer)
            let view = facts.view(after: writer)
            let rows = keys.map { [$0.parts[0], .word("new"), .integer(0)] }
            return (
                stages.session.reads, try rows.map { try view.singleton(delivery, of: $0)?[1] },
                rows.map { view.before.isFrozen($0, in: book.orders.root) }
            )
        }
        #expect(found.reads == 2)
        #expect(found.addresses == [.word("Rome"), .word("Oslo"), nil])
        #expect(found.frozen == [false, false, false])
    }

    @Test("A row that another resource has written is read again")
    func twoResourcesOfOneTable() async throws {
        let book = try await OrderBook()
        let edits = [
            book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("coffee")),
            book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid")),
        ]
        let articles = try await book.run([edits]) { stages -> [Value?] in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            let list = SectionPlace(book.orders, 1)
            let key = RecordKey([.integer(1)])
            let step = stages.run.plan.steps[1]
            let before = try facts.row(key, at: list, for: step, &writer)
            let line = stages.row(0)
            let current = try #require(
                try facts.row(key, at: line.place, for: line.step, &writer))
            try writer.update([Assignment(column: 2, value: .word("coffee"))], of: line, current: current)
            let after = try facts.row(key, at: list, for: step, &writer)
            return [before?[2], after?[2]]
        }
        #expect(articles == [.word("tea"), .word("coffee")])
    }

    @Test("Waiting updates are written before rows of their table are read by other columns")
    func waitingUpdates() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.lines, 1, "order_no", from: .integer(1), to: .integer(2))
        let found = try await book.run([[edit]]) { stages in
            var (facts, writer) = (FactStore(stages.run), ChangeWriter(stages.run))
            let line = stages.row(0)
            let current = try #require(
                try facts.row(line.step.edit.id.key, at: line.place, for: line.step, &writer))
            try writer.update([Assignment(column: 1, value: .integer(2))], of: line, current: current)
            return try facts.rows(of: book.orders.sections[1], in: [.integer(2), .word("new"), .integer(20)], &writer)
                .map { $0[0] }
        }
        #expect(found == [.integer(1), .integer(3)])
    }

    @Test("A row that the push deleted is the last known one, through either resource")
    func lastKnownOfThisPush() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("coffee"))
        let kept = try await book.run([[edit]]) { stages -> [Bool] in
            var facts = FactStore(stages.run)
            let columns = book.lines.root.columns
            let row = RawRow(
                values: zip(columns, [Value.integer(1), .integer(1), .word("tea")]).map {
                    RawValue(column: $0, value: $1)
                })
            facts.before.recordDeleted(row, in: book.lines.root)
            let key = RecordKey([.integer(1)])
            return [
                facts.before.deletedRow(key, of: book.orders.sections[1]) == row,
                facts.before.deletedRow(key, of: book.lines.root) == row,
                facts.before.deletedRow(RecordKey([.integer(2)]), of: book.lines.root) == nil,
                facts.before.deletedRow(key, of: book.orders.root) == nil,
            ]
        }
        #expect(kept == [true, true, true, true])
    }
}
