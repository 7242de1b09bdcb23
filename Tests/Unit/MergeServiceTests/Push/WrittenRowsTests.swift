import MergeCore
import Testing

@testable import MergeService

/// The written rows of sections with checks, with the effects of each edit.
@Suite(.timeLimit(.minutes(1))) struct WrittenRowsTests {
    @Test("The first edit of a row decides its values before the push, the last one is at fault")
    func twoEditsOfOneRow() async throws {
        let book = try await OrderBook()
        let edits = [10, 20].map { book.edit(book.orders, 1, "total", from: .integer(10), to: .integer($0)) }
        let row = try await book.run([edits]) { stages -> (before: [Value]?, last: Int, traces: [Int])? in
            var written = WrittenRows()
            let id = SectionID(resource: "orders", section: 0)
            let address = [Assignment(column: 0, value: .integer(1))]
            for index in [0, 1] {
                written.note(
                    WrittenRows.Row(
                        address: address, before: [.integer(1), .word("new"), .integer(Int128(10 * index + 10))],
                        last: stages.row(index),
                        traces: [WrittenRows.Trace(report: index, outcome: 0, group: 1)]), id)
            }
            return written.rows[id]?[address].map { ($0.before, $0.last.index, $0.traces.map(\.report)) }
        }
        #expect(row?.before?[2] == .integer(10))
        #expect(row?.last == 1)
        #expect(row?.traces == [0, 1])
    }

    @Test("The effects on a group are returned once")
    func traces() async throws {
        let book = try await OrderBook()
        let edits = [book.edit(book.orders, 1, "total", from: .integer(10), to: .integer(20))]
        let counts = try await book.run([edits]) { stages in
            var written = WrittenRows()
            let id = SectionID(resource: "orders", section: 0)
            let address = [Assignment(column: 0, value: .integer(1))]
            let traces = [0, 1].map { WrittenRows.Trace(report: 0, outcome: $0, group: $0) }
            written.note(WrittenRows.Row(address: address, before: [], last: stages.row(0), traces: traces), id)
            return [
                written.takeTraces(of: address, id, groups: [1]).count,
                written.takeTraces(of: address, id, groups: [1]).count,
                written.takeTraces(of: address, id, groups: [0, 1]).count,
            ]
        }
        #expect(counts == [1, 0, 1])
    }
}
