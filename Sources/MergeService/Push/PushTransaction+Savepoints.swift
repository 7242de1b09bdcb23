import MergeCore
import RecordStore

/// Edits with savepoints: a refused edit leaves no writes, and edits that depend on it do not run.
extension PushTransaction {
    /// False for engines without transactions, which have no savepoints either (Aria: error 1178).
    private var hasSavepoints: Bool { plan.push.edits.allSatisfy(\.resource.isAtomic) }

    /// Checks that all edits can be rolled back, or none.
    ///
    /// - Throws: a 400 `Problem` for a mixture.
    func checkSavepoints() throws(Problem) {
        guard !hasSavepoints, plan.push.edits.contains(where: \.resource.isAtomic) else { return }
        throw Problem(
            .invalid, about: .mixedResources,
            detail: "A push of atomic: edit cannot mix resources with and without transactions; send two.",
            path: WirePath("atomic"))
    }

    /// Runs one edit; if edits are independent, also runs its checks.
    func runAlone(_ step: PushPlan.Step) throws {
        defer { if !reports[step.index].isMerged { noteUnmade(step) } }
        if let problem = mode.refusals[step.index] { return reports[step.index].refuse(problem) }
        if let needed = step.needs.sorted().first(where: { !reports[$0].isMerged || left.contains($0) }) {
            left.insert(step.index)
            if isEachForItself { reports[step.index].refuse(Self.dependsOnRefused(needed, step)) }
            return
        }
        if isEachForItself, let needed = try refusedCreator(of: step) {
            left.insert(step.index)
            return reports[step.index].refuse(Self.dependsOnRefused(needed, step))
        }
        if hasSavepoints { try session.setSavepoint() }
        let before = Mark(
            inverses: inverses.count, written: written, sharedWrites: sharedWrites, inserted: inserted, fresh: fresh,
            originals: originals, frozen: frozen)
        if isEachForItself { written = WrittenRows() }
        try apply(step)
        if reports[step.index].isMerged {
            try noting {
                try flush()
                if isEachForItself { try runChecks() }
            }
        }
        if mode.measuresEachEdit, reports[step.index].isMerged, let problem = try excess(of: step) {
            reports[step.index].refuse(problem)
        }
        if !reports[step.index].isMerged { try takeBack(step, to: before) }
        if hasSavepoints { try session.releaseSavepoint() }
    }

    private struct Mark {
        let inverses: Int
        let written: WrittenRows
        let sharedWrites: [RowReference: [SectionID: Set<String>]]
        let inserted: [RowName: TemporaryID?]
        let fresh: Set<RowName>
        let originals: [RowName: [String: Value]]
        let frozen: [GuardedRow: Bool]
    }

    private func takeBack(_ step: PushPlan.Step, to mark: Mark) throws {
        updates = PendingUpdates()
        let gone = inserted.filter { mark.inserted[$0.key] == nil }
        (written, sharedWrites, inserted, fresh) = (mark.written, mark.sharedWrites, mark.inserted, mark.fresh)
        (originals, frozen) = (mark.originals, mark.frozen)
        changes.noteEverything()
        try takeBack(to: mark.inverses)
        if hasSavepoints { try session.rollBackToSavepoint() }
        for mapping in reports[step.index].ids { created[mapping.temporary] = nil }
        reports[step.index].rollBack(gone, of: step.edit)
    }

    private static func dependsOnRefused(_ needed: Int, _ step: PushPlan.Step) -> Problem {
        Problem(
            .dependsOnRefused, detail: "edits[\(needed)], which would have created it, was refused.",
            path: step.edit.path, retry: .never)
    }
}
