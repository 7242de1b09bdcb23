import MergeCore
import RecordStore

/// One run of the transaction that merges the pushes of a batch: lock and read, decide, write, read again.
///
/// The transaction's closure creates it for each run, so a retry starts from the beginning. Each of its parts has one
/// task; this type leads the edits through them in their order.
final class PushTransaction {
    let run: RunEnvironment
    var progress: BatchProgress
    var facts: FactStore
    var writer: ChangeWriter
    var checks: RuleChecks
    var others: OtherRecords

    var plan: PushPlan { run.plan }
    private var batch: PushBatch { run.batch }

    init(_ run: RunEnvironment) {
        self.run = run
        progress = BatchProgress(run.batch, work: run.limits.work)
        facts = FactStore(run)
        writer = ChangeWriter(run)
        checks = RuleChecks(run)
        others = OtherRecords(run)
    }

    /// Merges the pushes.
    ///
    /// If it throws, the caller must run the compensations of the writer.
    ///
    /// - Returns: the final records, parallel to the reports; nil if the transaction must be rolled back.
    /// - Throws: `PushStop`; a refusal is in the reports instead.
    func merge() throws(PushStop) -> [ReadRecord?]? {
        try facts.lockRoots(&writer)
        try runEdits()
        if let records = try finalRecords() {
            try checkInside(records)
            return records
        }
        try run.reading { () throws(StoreError) in try writer.compensate() }
        progress.rollBack(writer, of: plan.push)
        return nil
    }

    // MARK: The loop

    private func runEdits() throws(PushStop) {
        let waves = plan.waves(run)
        if run.isEachForItself { try checkSavepoints() }
        if waves.count > 1 { try askGuards() }
        for (number, wave) in waves.enumerated() {
            try loadOrRefuse(wave)
            try askTogether(wave)
            for step in wave where isLive(step) { try run(step) }
            // `finish` sends the last updates together with the reads.
            if number < waves.count - 1 { try noting { () throws(PushStop) in try writer.flush() } }
        }
    }

    /// Reads the rows of a wave.
    ///
    /// If they can never be read, refuses the edit that names them.
    private func loadOrRefuse(_ wave: [PushPlan.Step]) throws(PushStop) {
        if wave.count == 1, run.mode.refusals[wave[0].index] != nil { return }
        do throws(PushStop) {
            try facts.load(wave, &writer)
        } catch {
            guard case .store(let cause) = error, cause.refusal != nil else { throw error }
            guard wave.count == 1 else { throw .again(.editByEdit) }
            progress.reports[wave[0].index].problem = cause.refusal(of: wave[0].edit.path)
        }
    }

    func isLive(_ step: PushPlan.Step) -> Bool {
        !progress.excluded.contains(batch.owners[step.index]) && progress.reports[step.index].isMerged
    }

    private func run(_ step: PushPlan.Step) throws(PushStop) {
        if batch.items[batch.owners[step.index]].isOverdue {
            // An overdue push that runs alone gets the error `late`.
            guard batch.isShared else { throw .store(PushMerging.late) }
            return exclude(step)
        }
        if run.isEditByEdit { return try runAlone(step) }
        do throws(PushStop) {
            try noting { () throws(PushStop) in try apply(step) }
        } catch {
            if case .store = error { throw error }
            guard batch.isShared else { throw error }
            return exclude(step)
        }
        if progress.reports[step.index].isMerged { return }
        if batch.isShared { return exclude(step) }
        // The next run shows the outcomes of the other edits.
        if plan.steps.count > 1 { throw .again(.editByEdit) }
    }

    private func exclude(_ step: PushPlan.Step) { progress.excluded.insert(batch.owners[step.index]) }

    /// Runs `body` and records its refusal in the report of the edit concerned.
    func noting(_ body: () throws(PushStop) -> Void) throws(PushStop) {
        do throws(PushStop) {
            try body()
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            if plan.steps.count > 1, run.mode.writesTogether, !run.isEachForItself { throw .again(.editByEdit) }
            progress.reports[refusal.edit].refuse(refusal.problem)
        }
    }

    // MARK: Final records

    /// Finishes the run; nil if the transaction must be rolled back.
    private func finalRecords() throws(PushStop) -> [ReadRecord?]? {
        if run.isEachForItself {
            let stays = progress.reports.isEmpty || progress.reports.contains(where: \.isMerged)
            return stays ? try readAgain() : nil
        }
        if batch.isShared {
            guard progress.excluded.count < batch.items.count else { throw .again(.alone) }
            forgetExcluded()
            return try finish()
        }
        guard progress.isMerged else {
            if run.mode.isEditByEdit { try recordReverted() }
            return nil
        }
        var records: [ReadRecord?] = []
        try noting { () throws(PushStop) in records = try finish() }
        return progress.isMerged ? records : nil
    }

    /// Adds the conflicts of groups that checks would revert; earlier problems stay.
    private func recordReverted() throws(PushStop) {
        let problems = progress.reports.map(\.problem)
        try noting { () throws(PushStop) in while try revertFailures() {} }
        for index in progress.reports.indices { progress.reports[index].problem = problems[index] }
    }

    private func forgetExcluded() {
        guard !progress.excluded.isEmpty else { return }
        let isExcluded = { [excluded = progress.excluded, owners = batch.owners] (step: PushPlan.Step) in
            excluded.contains(owners[step.index])
        }
        writer.drop(isExcluded)
        checks.drop(isExcluded)
    }

    /// Writes the waiting updates, runs the checks on all written rows, and reads the records again.
    ///
    /// Without checks, one round trip sends the updates together with the reads.
    private func finish() throws(PushStop) -> [ReadRecord?] {
        // This run explains the refusal of a single update, unless pushes share the transaction.
        guard checks.isEmpty, writer.updates.only == nil || batch.isShared else {
            try writer.writePending()
            try runChecks()
            return try readAgain()
        }
        let collector = collector
        let records = try writer.writePending {
            collector.send(progress.reports)
        } receive: { asked throws(StoreError) in
            try collector.receive(asked)
        }
        return try measured(records)
    }

    private func readAgain() throws(PushStop) -> [ReadRecord?] {
        let records = try run.reading { () throws(StoreError) in try collector.records(of: progress.reports) }
        return try measured(records)
    }

    var collector: RecordCollector {
        RecordCollector(run.session, dialect: run.dialect, limits: run.limits, sharesReferred: true)
    }
}
