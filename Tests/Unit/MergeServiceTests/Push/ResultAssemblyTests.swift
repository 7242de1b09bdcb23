import MergeCore
import Testing

@testable import MergeService

/// The result of a push from its reports.
@Suite(.timeLimit(.minutes(1))) struct ResultAssemblyTests {
    private struct Case: CustomTestStringConvertible {
        let name: String
        var rejected: Set<Int> = []
        var failed: Set<Int> = []
        var atomicity = Atomicity.push
        var wasRolledBack = true
        let status: PushStatus
        let edits: [PushStatus]

        var testDescription: String { name }
    }

    @Test(
        "The status of a push, and of each edit",
        arguments: [
            Case(name: "all merged", wasRolledBack: false, status: .merged, edits: [.merged, .merged]),
            Case(
                name: "one refused, independent edits", failed: [1], atomicity: .edit, wasRolledBack: false,
                status: .partial, edits: [.merged, .failed]),
            Case(name: "one refused", failed: [1], status: .failed, edits: [.failed, .failed]),
            Case(name: "one rejected", rejected: [0], status: .rejected, edits: [.rejected, .rejected]),
            Case(
                name: "a rejection counts more than a refusal", rejected: [1], failed: [0], status: .rejected,
                edits: [.failed, .rejected]),
            Case(
                name: "no independent edit was merged", rejected: [0], failed: [1], atomicity: .edit, status: .rejected,
                edits: [.rejected, .failed]),
        ])
    private
        func statuses(_ wanted: Case) async throws
    {
        let book = try await OrderBook()
        let edits = [1, 2].map { book.edit(book.orders, $0, "state", from: .word("new"), to: .word("paid")) }
        var reports = edits.map { EditReport($0) }
        for index in wanted.rejected { reports[index].isRejected = true }
        for index in wanted.failed { reports[index].refuse(Problem(.unique, detail: "", retry: .never)) }
        let result = ResultAssembly(
            push: Push(key: "k", atomicity: wanted.atomicity, edits: edits), reports: reports[...],
            wasRolledBack: wanted.wasRolledBack
        ).result([nil, nil])
        #expect(result.key == "k")
        #expect(result.status == wanted.status)
        #expect(result.results.map(\.status) == wanted.edits)
        // An edit without a fault names the failed one.
        for (index, edit) in result.results.enumerated() where wanted.wasRolledBack {
            let isCulprit = wanted.failed.contains(index) || wanted.rejected.contains(index)
            #expect((edit.problem?.code == .rolledBack) == !isCulprit)
        }
    }

    @Test("A refused creation has the id that the client sent, a merged one its key")
    func ids() async throws {
        let book = try await OrderBook()
        let edit = book.newLine("oil", of: 1, as: "tmp:a")
        var report = EditReport(edit)
        report.key = RecordKey([.integer(4)])
        for (wasRolledBack, id) in [
            (true, RowLabel.temporary(TemporaryID("tmp:a"))), (false, .key(RecordKey([.integer(4)]))),
        ] {
            let result = ResultAssembly(
                push: Push(key: nil, atomicity: .push, edits: [edit]), reports: [report], wasRolledBack: wasRolledBack
            ).result([nil])
            #expect(result.results[0].id == id)
            #expect((result.results[0].ids == nil) == wasRolledBack)
        }
    }
}
