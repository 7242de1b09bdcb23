import MergeCore
import RecordStore

/// One run of the transaction that merges the pushes of a batch: lock and read, decide, write, read again.
///
/// The transaction's closure creates it for each run, so a retry starts from the beginning.
final class PushTransaction {
    let session: any StoreSession
    let dialect: any Dialect
    let batch: PushBatch
    let active: ActiveRules
    let limits: MergeLimits
    let digest: GroupDigest
    /// The source of the last known values of deleted rows; nil if the journal is off.
    let journal: Journal?
    /// True if the journal records the pushes and the records that they change; false for a preview.
    let isKept: Bool
    let mode: RunMode
    /// True if the run waits for locks; otherwise a lock of another transaction ends the run at once.
    let waits: Bool
    /// The rights of the edits' clients, parallel to the reports; empty without access rules.
    let views: [ResourceView?]
    var reports: [EditReport]
    /// The remaining work of merge functions for each push.
    var budgets: [WorkBudget]
    /// Pushes that leave the shared transaction and run alone: refused, late, or with work that must not be shared.
    var excluded: Set<Int> = []
    /// Edits that did not run, because they need a row of a refused edit.
    var left: Set<Int> = []
    var created: [TemporaryID: RecordKey] = [:]
    /// Compensations for writes to tables without transactions; the last runs first.
    var inverses: [Statement] = []
    /// Rows that the rules' checks read after all writes.
    var written = WrittenRows()
    var updates = PendingUpdates()
    var context = RowContext()
    /// True if the push wrote columns that foreign keys refer to.
    var writesReferenced = false
    var reloaded: Int?
    /// The writes so far, with their logical times.
    var changes = RowChanges()
    /// Columns written in rows that several resources share, by section.
    var sharedWrites: [RowReference: [SectionID: Set<String>]] = [:]
    /// Rows with keys that the database generated, with the client's temporary id if it sent one.
    var inserted: [RowName: TemporaryID?] = [:]
    /// Rows whose records in other resources are searched after all writes.
    var shownRows: [ShownRows] = []
    /// The records that each edit changed besides its own.
    var shown: [Int: Set<ShownRecord>] = [:]
    /// Columns of rows before the push: all written columns of tables with guards, else those that access conditions
    /// test.
    var originals: [RowName: [String: Value]] = [:]
    /// Results of guards before the push.
    var frozen: [GuardedRow: Bool] = [:]
    /// Inserted rows of tables with guards, with access conditions, or with checks of another section.
    var fresh: Set<RowName> = []
    /// The values that access conditions tested in the records of `shown` before the push.
    var shownBefore: [ShownRecord: [UInt8]] = [:]
    /// The change of those records for access conditions.
    var shownSteps: [ShownRecord: ConditionStep] = [:]
    var trails: [RecordName: KnownTrails] = [:]
    var isWritten = false
    /// Deleted rows, which the push may create again under their keys.
    var deleted: Set<RowReference> = []
    /// Rows with client keys that refused edits would have created, with the position of the edit.
    var unmade: [RowReference: Int] = [:]
    /// True if all edits name different records of one resource by key.
    ///
    /// A creation may turn out to edit the record of another edit, so it makes this false.
    var namesEachOnce = false
    /// True if in addition no other section of the resource can contain a row of the root's table.
    var rootIsNamedOnce = false

    var plan: PushPlan { batch.plan }

    /// Thrown for work that a shared transaction must not do.
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

    /// Merges the pushes; if it throws, it compensates writes to tables without transactions.
    ///
    /// - Returns: the final records, parallel to the reports; nil if the transaction must be rolled back.
    /// - Throws: `StoreError`; `RunAgain`; a `Problem` for a request error that only the database could show;
    ///   `NotShareable` if each push must run alone.
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

    var rolledBackReports: [EditReport] {
        var reports = reports
        for index in reports.indices { reports[index].rollBack(inserted, of: plan.push.edits[index]) }
        return reports
    }

    // MARK: The loop

    /// Runs the edits in their order; each wave reads the writes of earlier waves.
    private func runEdits() throws {
        let waves = mode.isEditByEdit || isEachForItself ? plan.steps.map { [$0] } : waves()
        if isEachForItself { try checkSavepoints() }
        for (number, wave) in waves.enumerated() {
            try loadOrRefuse(wave)
            for step in wave where isLive(step) { try run(step) }
            // `finish` sends the last updates together with the reads.
            if number < waves.count - 1 { try noting { try flush() } }
        }
    }

    /// Reads the rows of a wave.
    ///
    /// If they can never be read, refuses the edit that names them.
    private func loadOrRefuse(_ wave: [PushPlan.Step]) throws {
        if wave.count == 1, mode.refusals[wave[0].index] != nil { return }
        do {
            try load(wave)
        } catch let error as StoreError {
            guard error.refusal != nil else { throw error }
            guard wave.count == 1 else {
                throw RunAgain.editByEdit
            }
            reports[wave[0].index].problem = error.refusal(of: wave[0].edit.path)
        }
    }

    /// True if the edits of the push succeed or fail independently (`atomic: edit`).
    var isEachForItself: Bool { plan.push.atomicity == .edit }

    private func isLive(_ step: PushPlan.Step) -> Bool {
        !excluded.contains(batch.owners[step.index]) && reports[step.index].isMerged
    }

    private func run(_ step: PushPlan.Step) throws {
        if batch.items[batch.owners[step.index]].isOverdue {
            // An overdue push that runs alone gets the error `late`.
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
        // The next run shows the outcomes of the other edits.
        if plan.steps.count > 1 { throw RunAgain.editByEdit }
    }

    private func exclude(_ step: PushPlan.Step) { excluded.insert(batch.owners[step.index]) }

    /// Runs `body` and records its refusal in the report of the edit concerned.
    func noting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as CheckFailure {
            if plan.steps.count > 1, mode.writesTogether, !isEachForItself { throw RunAgain.editByEdit }
            reports[failure.report].refuse(failure.problem)
        }
    }

    // MARK: Final records

    /// Finishes the run; nil if the transaction must be rolled back.
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

    /// Adds the conflicts of groups that checks would revert; earlier problems stay.
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

    func readAgain() throws -> [ReadRecord?] {
        try proved(RecordCollector(session, dialect: dialect, limits: limits).records(of: reports))
    }
}

struct Refusal: Error {
    let problem: Problem
}
