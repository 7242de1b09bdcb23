import MergeCore
import Testing

@testable import MergeService

/// The root row on which the other rows of an edit are decided.
@Suite(.timeLimit(.minutes(1))) struct RecordRootTests {
    /// Returns an edit of an order's lines, and of its state if wanted.
    private static func edit(_ book: OrderBook, _ line: RowEdit, withRoot: Bool) -> Edit {
        let root = book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid"))
        return Edit(
            resource: book.orders, id: root.id, rows: (withRoot ? root.rows : []) + [line], path: WirePath("edits"))
    }

    private static let article = FieldValues(fields: [0], values: [.word("oil")])
    private static let newLine = RowEdit(
        section: 1, id: RowID(parts: [.generated], temporary: TemporaryID("tmp:a")), action: .create(article),
        path: WirePath("lines"))
    private static let changedLine = RowEdit(
        section: 1, id: RowID(RecordKey([.integer(1)])),
        action: .edit([
            GroupEdit(
                group: 0, base: .values(FieldValues(fields: [0], values: [.word("tea")])), edited: article,
                path: WirePath("article"), isRowForm: false)
        ]), path: WirePath("lines"))

    @Test("An update of the root that leaves its links alone costs no further read", arguments: [newLine, changedLine])
    func reads(_ line: RowEdit) async throws {
        let book = try await OrderBook()
        var reads: [Int] = []
        for withRoot in [false, true] {
            reads.append(
                try await book.run([[Self.edit(book, line, withRoot: withRoot)]]) { stages in
                    _ = try PushTransaction(stages.run).merge()
                    return stages.session.reads
                })
        }
        #expect(reads[0] == reads[1])
    }
}
