import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// Decided updates that wait for a common statement.
@Suite(.timeLimit(.minutes(1))) struct PendingUpdatesTests {
    private static func update(_ row: EditedRow, _ columns: [Int]) -> PendingUpdates.Update {
        let id = Int128(row.index + 1)
        return PendingUpdates.Update(
            row: row,
            change: SectionSQL.Change(
                key: [Assignment(column: 0, value: .integer(id))],
                assignments: columns.map { Assignment(column: $0, value: .integer(1)) }),
            current: [.integer(id), .word("new"), .integer(10)])
    }

    @Test("Updates of the same columns share a statement, others do not")
    func batches() async throws {
        let book = try await OrderBook()
        let edits = [1, 2, 3].map { book.edit(book.orders, $0, "total", from: .integer(10), to: .integer(1)) }
        let sizes = try await book.run([edits]) { stages in
            var updates = PendingUpdates()
            for (index, columns) in [[2], [1, 2], [2]].enumerated() {
                updates.add(
                    Self.update(stages.row(index), columns), at: index + 1, in: "orders", reaching: .row,
                    isUnique: false, owner: 0)
            }
            return updates.batches.map(\.count)
        }
        #expect(sizes == [2, 1])
    }

    @Test("A row that waits is written before it is updated again, and rows of one unique index before each other")
    func order() async throws {
        let book = try await OrderBook()
        let edits = [1, 2].map { book.edit(book.orders, $0, "total", from: .integer(10), to: .integer(1)) }
        let answers = try await book.run([edits]) { stages in
            var updates = PendingUpdates()
            let early = updates.mustGoBefore(3, in: "orders", isUnique: true, owner: 0)
            updates.add(
                Self.update(stages.row(0), [2]), at: 5, in: "orders", reaching: .row, isUnique: true, owner: 0)
            return [
                early, updates.mustGoBefore(5, in: "orders", isUnique: false, owner: 0),
                updates.mustGoBefore(4, in: "orders", isUnique: false, owner: 0),
                updates.mustGoBefore(nil, in: "orders", isUnique: true, owner: 0),
                updates.mustGoBefore(nil, in: "orders", isUnique: true, owner: 1),
                updates.mustGoBefore(nil, in: "lines", isUnique: true, owner: 0),
            ]
        }
        #expect(answers == [false, true, false, true, false, false])
    }

    @Test("Updates of removed steps are dropped")
    func dropped() async throws {
        let book = try await OrderBook()
        let edits = [1, 2].map { book.edit(book.orders, $0, "total", from: .integer(10), to: .integer(1)) }
        let left = try await book.run([edits]) { stages in
            var updates = PendingUpdates()
            for index in [0, 1] {
                updates.add(
                    Self.update(stages.row(index), [2]), at: index + 1, in: "orders", reaching: .row, isUnique: false,
                    owner: 0)
            }
            updates.drop { $0.index == 0 }
            return updates.only?.row.index
        }
        #expect(left == 1)
    }

    @Test("Only an update that reaches other rows may change another table")
    func reach() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.orders, 1, "total", from: .integer(10), to: .integer(1))
        let answers = try await book.run([[edit]]) { stages in
            [Footprint.Reach.row, .otherTables, .everything].map { reach in
                var updates = PendingUpdates()
                updates.add(
                    Self.update(stages.row(0), [2]), at: 1, in: "orders", reaching: reach, isUnique: false, owner: 0)
                return updates.mayChange("lines")
            }
        }
        #expect(answers == [false, true, true])
    }
}
