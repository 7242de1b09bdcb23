import MergeCore
import RecordStore

/// One run of the transaction that merges the pushes of a batch: lock and read, decide, write, read again.
///
/// It lives as long as the transaction's closure, which may run again from the start; so nothing outlives it.
final class PushTransaction {
    let session: any StoreSession
    let dialect: any Dialect
    let batch: PushBatch
    let active: ActiveRules
    let limits: MergeLimits
    let digest: GroupDigest
    /// What tells of rows that are gone; nil where nothing is kept of any push.
    let journal: Journal?
    /// The push goes into the journal, with the records that it changes; a preview does not.
    let isKept: Bool
    let mode: RunMode
    /// Locks are waited for; else one that another transaction holds ends the run at once.
    let waits: Bool
    /// What the clients of the edits may do, parallel to the reports; empty where all may do everything.
    let views: [ResourceView?]
    var reports: [EditReport]
    /// The work that merge functions may still do, for each push of the batch.
    var budgets: [WorkBudget]
    /// Pushes that have to run alone, because the others would pay for what they need.
    var excluded: Set<Int> = []
    /// Edits that did not run, because they need a row of one that was refused.
    var left: Set<Int> = []
    /// The keys of the rows created so far.
    var created: [TemporaryID: RecordKey] = [:]
    /// Statements that take back the writes to tables that do not do so by themselves, the last first.
    var inverses: [Statement] = []
    /// The rows that the rules' checks have to look at once everything is written.
    var written = WrittenRows()
    /// Updates that wait to be written together.
    var updates = PendingUpdates()
    /// The rows that were locked and read.
    var context = RowContext()
    /// Columns were written that foreign keys refer to.
    var writesReferenced = false
    /// The edit whose rows were read again last.
    var reloaded: Int?
    /// The writes since.
    var changes = RowChanges()
    /// Columns of rows that sections of different resources show, by the section through which they were written.
    var sharedWrites: [RowReference: [SectionID: Set<String>]] = [:]
    /// Rows that were inserted under keys of the database's own making, by the name that the client gave them.
    var inserted: [RowName: TemporaryID?] = [:]
    /// Rows that other records may show as well, to be looked for again once all is written.
    var shownRows: [ShownRows] = []
    /// The records that edits changed besides their own, by the edit.
    var shown: [Int: Set<ShownRecord>] = [:]
    /// Columns of rows as they were before the push: all that it wrote if the table has guards, else those that conditions
    /// of access test.
    var originals: [RowName: [String: Value]] = [:]
    /// The guards that were asked for, as they were before the push.
    var frozen: [GuardedRow: Bool] = [:]
    /// Rows that the push inserted, if guards or conditions of access look at their table, or checks of another section
    /// than the one that inserted them.
    var fresh: Set<RowName> = []
    /// What conditions of access looked at in those records before they changed.
    var shownBefore: [ShownRecord: [UInt8]] = [:]
    /// The steps that conditions of access see in them.
    var shownSteps: [ShownRecord: ConditionStep] = [:]
    /// What the journal tells of rows that are gone, by their record.
    var trails: [RecordName: KnownTrails] = [:]
    /// Everything is written.
    var isWritten = false
    /// Rows that the push deleted, which it may create again under their keys.
    var deleted: Set<RowReference> = []
    /// Rows that edits which were refused would have created under keys of the client's, by the edit.
    var unmade: [RowReference: Int] = [:]
    /// Every edit names a record of one and the same resource by its key, and no two the same record; none creates its
    /// record, which may turn out to be the one that another names.
    var namesEachOnce = false
    /// The same, and no item or singleton of the resource can be a row of its root's table.
    var rootIsNamedOnce = false

    var plan: PushPlan { batch.plan }

    /// Something that a push may not do while others share its transaction.
    struct NotShareable: Error {}

    init(_ batch: PushBatch, _ merging: PushMerging, session: any StoreSession, mode: RunMode, waits: Bool) {
        self.batch = batch
        active = batch.active
        journal = active.journal
        isKept = batch.journal != nil
        self.session = session
        dialect = merging.engine.dialect
        limits = merging.limits
        digest = merging.digest
        self.mode = mode
        self.waits = waits
        budgets = batch.items.map { _ in merging.limits.work }
        views = Self.views(of: batch)
        reports = batch.plan.push.edits.map { EditReport($0) }
    }

    /// Merges the pushes.
    ///
    /// - Returns: the records as they stand in the end, parallel to the reports; nil where nothing stands.
    /// - Throws: `StoreError`; `RunAgain`; a `Problem` where the request has a fault that only the database could show;
    ///   `NotShareable` where all of several pushes have to run alone. Writes that the database does not take back by
    ///   itself are taken back.
    func merge() throws -> [ReadRecord?]? {
        do {
            try lockRoots()
            try runEdits()
            if let records = try standing() {
                try checkInside(records)
                return records
            }
            try takeBack(to: 0)
            reports = rolledBackReports
            return nil
        } catch {
            try takeBack(to: 0)
            throw error
        }
    }

    /// The reports without what was taken back with the transaction.
    var rolledBackReports: [EditReport] {
        var reports = reports
        for index in reports.indices { reports[index].rollBack(inserted, of: plan.push.edits[index]) }
        return reports
    }

    // MARK: The loop

    /// Runs the edits in their order; every wave reads what the last one wrote.
    private func runEdits() throws {
        let waves = mode.isEditByEdit || isEachForItself ? plan.steps.map { [$0] } : waves()
        if isEachForItself { try checkSavepoints() }
        for (number, wave) in waves.enumerated() {
            try loadOrRefuse(wave)
            for step in wave where isLive(step) { try run(step) }
            // What the last ones write goes with what follows.
            if number < waves.count - 1 { try noting { try flush() } }
        }
    }

    /// Reads the rows of a wave; if they cannot be read for a final reason, refuses the edit that names them.
    private func loadOrRefuse(_ wave: [PushPlan.Step]) throws {
        if wave.count == 1, mode.refusals[wave[0].index] != nil { return }
        do {
            try load(wave)
        } catch let error as StoreError {
            guard error.refusal != nil else { throw error }
            guard wave.count == 1 else {
                // In a run of edit by edit each wave has one edit.
                throw RunAgain.editByEdit
            }
            reports[wave[0].index].problem = error.refusal(of: wave[0].edit.path)
        }
    }

    /// Edits of a push of `atomic: edit` stand or fall each by itself.
    var isEachForItself: Bool { plan.push.atomicity == .edit }

    private func isLive(_ step: PushPlan.Step) -> Bool {
        !excluded.contains(batch.owners[step.index]) && reports[step.index].isMerged
    }

    private func run(_ step: PushPlan.Step) throws {
        if batch.items[batch.owners[step.index]].isOverdue {
            // Alone it is answered that it is late.
            guard batch.isShared else { throw PushMerging.late }
            return exclude(step)
        }
        if mode.isEditByEdit || isEachForItself { return try runAlone(step) }
        do {
            try noting { try apply(step) }
        } catch let error as StoreError {
            throw error
        } catch {
            guard batch.isShared else { throw error }
            return exclude(step)
        }
        if reports[step.index].isMerged { return }
        if batch.isShared { return exclude(step) }
        // What the other edits would have come to is told by a run in which each leaves nothing if it is refused.
        if plan.steps.count > 1 { throw RunAgain.editByEdit }
    }

    private func exclude(_ step: PushPlan.Step) { excluded.insert(batch.owners[step.index]) }

    /// Runs `body`, and notes what it refuses beside the edit that it belongs to.
    func noting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as CheckFailure {
            if plan.steps.count > 1, mode.writesTogether, !isEachForItself { throw RunAgain.editByEdit }
            reports[failure.report].refuse(failure.problem)
        }
    }

    // MARK: What stands

    /// Writes and checks what is left, and reads the records again; nil where nothing stands.
    private func standing() throws -> [ReadRecord?]? {
        if isEachForItself {
            let stands = reports.isEmpty || reports.contains(where: \.isMerged)
            return stands ? try readAgain() : nil
        }
        if batch.isShared {
            guard excluded.count < batch.items.count else { throw NotShareable() }
            forgetExcluded()
            return try finish()
        }
        guard reports.allSatisfy(\.isMerged) else {
            if mode.isEditByEdit { try noteTakenBack() }
            return nil
        }
        var records: [ReadRecord?] = []
        try noting { records = try finish() }
        return reports.allSatisfy(\.isMerged) ? records : nil
    }

    /// Groups that the checks would have taken back are conflicts as well; what they would have refused comes second.
    private func noteTakenBack() throws {
        let problems = reports.map(\.problem)
        try noting { while try takeBackFailures() {} }
        for index in reports.indices { reports[index].problem = problems[index] }
    }

    private func forgetExcluded() {
        guard !excluded.isEmpty else { return }
        let isExcluded = { [excluded, owners = batch.owners] (step: PushPlan.Step) in
            excluded.contains(owners[step.index])
        }
        updates.drop(isExcluded)
        written.drop(isExcluded)
        for step in plan.steps where isExcluded(step) { reports[step.index].meant = [] }
    }

    /// Reads the records as they stand.
    func readAgain() throws -> [ReadRecord?] {
        try proved(RecordCollector(session, dialect: dialect, limits: limits).records(of: reports))
    }
}

/// A write that the database refused, explained to the client.
struct Refusal: Error {
    let problem: Problem
}
