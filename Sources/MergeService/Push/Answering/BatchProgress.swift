import MergeCore

/// The results so far of the pushes of a batch.
struct BatchProgress {
    var reports: [EditReport]
    /// The remaining work of merge functions for each push.
    var budgets: [WorkBudget]
    /// Pushes that leave the shared transaction and run alone: refused, late, or with work that must not be shared.
    var excluded: Set<Int> = []
    /// Edits that did not run, because they need a row of a refused edit.
    var left: Set<Int> = []
    /// Rows with client keys that refused edits would have created, with the position of the edit.
    var uncreated: [RowName: Int] = [:]

    init(_ batch: PushBatch, work: WorkBudget) {
        budgets = batch.items.map { _ in work }
        reports = batch.plan.push.edits.map { EditReport($0) }
    }

    /// True if no edit is refused.
    var isMerged: Bool { reports.allSatisfy(\.isMerged) }

    /// Removes the effects that a rollback of the whole transaction undid.
    mutating func rollBack(_ writer: ChangeWriter, of push: Push) {
        for index in reports.indices { reports[index].rollBack(writer.inserted, of: push.edits[index]) }
    }
}
