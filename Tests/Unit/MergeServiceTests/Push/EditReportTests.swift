import MergeCore
import Testing

@testable import MergeService

/// The facts about one edit.
@Suite(.timeLimit(.minutes(1))) struct EditReportTests {
    private static func problem(_ code: ProblemCode) -> Problem { Problem(code, detail: "", retry: .never) }

    @Test("The first reason of a refusal counts")
    func firstReason() async throws {
        let book = try await OrderBook()
        var report = EditReport(book.newLine("oil", of: 1, as: "tmp:a"))
        #expect(report.isMerged)
        report.refuse(Self.problem(.unique))
        report.refuse(Self.problem(.check))
        #expect(!report.isMerged)
        #expect(report.problem?.code == .unique)
    }

    @Test("A rejected edit is not merged, although it has no problem")
    func rejected() async throws {
        let book = try await OrderBook()
        var report = EditReport(book.newLine("oil", of: 1, as: "tmp:a"))
        report.isRejected = true
        #expect(!report.isMerged)
    }

    @Test("A rollback keeps the conflicts, and restores the temporary ids of new rows")
    func rollback() async throws {
        let book = try await OrderBook()
        let edit = book.newLine("oil", of: 1, as: "tmp:a")
        let key = RecordKey([.integer(4)])
        var report = EditReport(edit)
        report.key = key
        report.createsRecord = true
        report.ids = [IDMapping(temporary: TemporaryID("tmp:a"), key: key, section: 0)]
        var conflict = Outcome(.clientWon, section: 0, item: key, group: 0, rule: .default)
        conflict.isConflict = true
        report.outcomes = [Outcome(.inserted, section: 0, rule: .default), conflict]
        let root = book.lines.root
        report.rollBack([RowName(key, in: root): TemporaryID("tmp:a")], of: edit)
        #expect(report.key == nil)
        #expect(report.ids.isEmpty && !report.createsRecord)
        #expect(report.outcomes.map(\.kind) == [.clientWon])
        #expect(report.outcomes[0].item == .temporary(TemporaryID("tmp:a")))
    }

    @Test("A rollback keeps the key that the client sent")
    func sentKey() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid"))
        let key = RecordKey([.integer(1)])
        var report = EditReport(edit)
        let root = book.orders.root
        report.rollBack([RowName(key, in: root): nil], of: edit)
        #expect(report.key == key)
    }
}
