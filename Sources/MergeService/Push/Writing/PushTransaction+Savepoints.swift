import MergeCore
import RecordStore

/// Edits with savepoints: a refused edit leaves no writes, and edits that depend on it do not run.
extension PushTransaction {
    /// The parts of a run that a rollback to a savepoint restores.
    private struct Savepoint {
        let writer: ChangeWriter
        let before: RowsBefore
        let checks: RuleChecks
        let others: OtherRecords
    }

    /// Checks that all edits can be rolled back, or none.
    ///
    /// - Throws: a 400 problem for a mixture.
    func checkSavepoints() throws(PushStop) {
        guard !run.hasSavepoints, plan.push.edits.contains(where: \.resource.isAtomic) else { return }
        throw .fault(
            Problem(
                .invalid, about: .mixedResources,
                detail: "A push of atomic: edit cannot mix resources with and without transactions. Send two pushes.",
                path: WirePath("atomic")))
    }

    /// Runs one edit; if edits are independent, also runs its checks.
    func runAlone(_ step: PushPlan.Step) throws(PushStop) {
        defer { if !progress.reports[step.index].isMerged { recordUncreated(step) } }
        if let problem = run.mode.refusals[step.index] { return progress.reports[step.index].refuse(problem) }
        if let needed = step.needs.sorted().first(where: {
            !progress.reports[$0].isMerged || progress.left.contains($0)
        }) {
            progress.left.insert(step.index)
            if run.isEachForItself { progress.reports[step.index].refuse(Self.dependsOnRefused(needed, step: step)) }
            return
        }
        if run.isEachForItself, let needed = try refusedCreator(of: step) {
            progress.left.insert(step.index)
            return progress.reports[step.index].refuse(Self.dependsOnRefused(needed, step: step))
        }
        try run.reading { () throws(StoreError) in try writer.setSavepoint() }
        let saved = Savepoint(writer: writer, before: facts.before, checks: checks, others: others)
        if run.isEachForItself { checks = checks.withoutRows() }
        try apply(step)
        if progress.reports[step.index].isMerged {
            try noting { () throws(PushStop) in
                try writer.flush()
                if run.isEachForItself { try runChecks() }
            }
        }
        if run.mode.measuresEachEdit, progress.reports[step.index].isMerged, let problem = try excess(of: step) {
            progress.reports[step.index].refuse(problem)
        }
        if !progress.reports[step.index].isMerged { try rollBack(step, to: saved) }
        try run.reading { () throws(StoreError) in try writer.releaseSavepoint() }
    }

    private func rollBack(_ step: PushPlan.Step, to saved: Savepoint) throws(PushStop) {
        let gone = writer.inserted.filter { saved.writer.inserted[$0.key] == nil }
        try run.reading { () throws(StoreError) in try writer.rollBack(to: saved.writer) }
        facts.before = saved.before
        checks = saved.checks
        others = saved.others
        progress.reports[step.index].rollBack(gone, of: step.edit)
    }

    private static func dependsOnRefused(_ needed: Int, step: PushPlan.Step) -> Problem {
        Problem(
            .dependsOnRefused, detail: "edits[\(needed)], which would have created it, was refused.",
            path: step.edit.path, retry: .never)
    }
}
