import MergeCore
import RecordStore

/// Decides one row of an edit from facts: rights, guards and the three-way merge.
///
/// It is pure: the same facts have the same decision.
struct RowEvaluation {
    let row: EditedRow
    let action: RowAction
    let found: FoundRow
    /// The record's own row; nil if it does not exist for the client.
    let root: [Value]?
    /// The report of the edit before this row.
    let report: EditReport
    let facts: FactView

    private var rights: RowRights { RowRights(of: facts.run.view(of: row.index), before: facts.before) }

    /// Decides the row.
    ///
    /// - Throws: a refusal, 403; a fault for a value that is never written.
    func decision(spending budget: inout WorkBudget) throws(DecidingStop) -> RowDecision {
        try rights.check(row.edit, isThere: found.current != nil, root: root, report: report)
        let readable = rights.readable(row, root: root)
        let isDependent = facts.keys.areMissing(for: row.edit)
        let action =
            readable === row.edit ? action : readable.action.resolved(in: row.section) { facts.keys.reference($0) }
        let met = isDependent ? FoundRow(.unreachable, item: found.item) : try guarded()
        var spent = budget
        var decision: RowDecision
        do throws(Problem) {
            decision = try EditEvaluator(digest: facts.run.digest)
                .evaluate(readable, action: action, in: row.section, on: met, spending: &spent)
        } catch {
            throw .fault(error)
        }
        if let current = found.current {
            if isDependent { decision.showCurrent(current) }
            try addPreventedCascades(to: &decision, current: current)
        }
        budget = spent
        return decision
    }

    private func guarded() throws(DecidingStop) -> FoundRow {
        guard let current = found.current,
            facts.run.active.views.hasGuards(row.resource) || row.step.edit.keepsLaterChanges
        else { return found }
        return FoundRow(found.state, item: found.item, guards: try facts.guards(of: current, in: row, action))
    }

    /// Adds the cascades that a refused deletion would have had, for tables without a section.
    private func addPreventedCascades(to decision: inout RowDecision, current: [Value]) throws(DecidingStop) {
        guard row.section.softDelete == nil,
            let index = decision.outcomes.firstIndex(where: { outcome in
                outcome.group == nil && (outcome.kind == .kept || outcome.kind == .rejected)
            })
        else { return }
        let shown = Set(row.resource.sections.map(\.table))
        decision.outcomes[index].cascades = try facts.cascades(deleting: current, of: row.place)
            .filter { !shown.contains($0.table) }
    }
}

extension RowDecision {
    fileprivate mutating func showCurrent(_ row: [Value]) {
        for index in outcomes.indices {
            guard let sides = outcomes[index].sides else { continue }
            outcomes[index].sides = Sides(
                base: sides.base, current: .row(row), edited: sides.edited, written: .row(row))
        }
    }
}
