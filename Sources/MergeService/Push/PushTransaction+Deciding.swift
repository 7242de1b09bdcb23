import MergeCore
import RecordStore

/// Decisions on the rows of one edit, each based on earlier decisions.
extension PushTransaction {
    /// Decides and writes the rows of an edit.
    ///
    /// After a refused or rejected row, the other rows are only decided, so that the answer contains all conflicts.
    func apply(_ step: PushPlan.Step) throws(PushStop) {
        let resource = step.edit.resource
        let key = writer.settled(step.edit.id)
        if let key { progress.reports[step.index].key = key }
        var root = try root(key, for: step)
        if root == nil, step.edit.id.isSuspect { throw .fault(Self.unknownRow(step.edit.path)) }
        let start = writer.changes.now
        for edit in step.rows {
            // After a refusal, rows that depend on a refused row look like rows that depend on a missing row.
            if dependsOnMissing(edit), !progress.reports[step.index].isMerged { continue }
            do throws(PushStop) {
                // The deletion of an item may have changed the root.
                if edit.section == 0, writer.changes.now != start, progress.reports[step.index].isMerged {
                    root = try self.root(key, for: step)
                }
                try apply(EditedRow(edit: edit, step: step), root: &root)
            } catch {
                switch error {
                case .store(let cause):
                    guard let problem = cause.refusal(of: edit.path) else { throw error }
                    return progress.reports[step.index].refuse(problem)
                case .refused(let refusal):
                    // A refused update of an earlier edit was waiting; the next run reports it.
                    guard refusal.edit == step.index else { throw .again(.editByEdit) }
                    progress.reports[step.index].refuse(refusal.problem)
                    // The outcomes of the new record's other rows cannot be decided.
                    if edit.section == 0, root == nil { return }
                case .again, .fault: throw error
                }
            }
        }
        if let root, progress.reports[step.index].key.map({ !resource.root.isKey($0, of: root) }) ?? true {
            progress.reports[step.index].key = resource.root.key(of: root)
        }
        guard !step.edit.reversals.isEmpty, progress.reports[step.index].isMerged else { return }
        do throws(PushStop) {
            try restoreCascades(step)
        } catch {
            guard case .refused(let refusal) = error, refusal.edit == step.index else { throw error }
            progress.reports[step.index].refuse(refusal.problem)
        }
    }

    /// Reads the root row of an edit; nil if it does not exist for the client.
    private func root(_ key: RecordKey?, for step: PushPlan.Step) throws(PushStop) -> [Value]? {
        let resource = step.edit.resource
        let root = try facts.row(
            key, of: resource.root, as: SectionID(resource: resource.name, section: 0), for: step,
            equated: step.edit.createsRecord, &writer)
        return shown(root, to: step.index)
    }

    /// True for an edit of a row that an earlier edit did not create; without a key it cannot be restored.
    private func isNowhere(_ edit: RowEdit) -> Bool {
        guard case .edit = edit.action, let id = edit.id else { return false }
        return writer.settled(id) == nil
    }

    /// Decides and writes one row of an edit.
    ///
    /// - Parameter root: the record's own row; nil if it does not exist. An edit of the root updates it for the
    ///   record's other rows.
    private func apply(_ row: EditedRow, root: inout [Value]?) throws(PushStop) {
        let isRoot = row.section.kind == .root
        let action = resolved(row.edit.action, in: row.section)
        let isDependent = dependsOnMissing(row.edit)
        let (found, known) = try found(row, action, root: root, isDependent: isDependent)
        if isRoot { root = found.current }
        try checkRights(row, on: found, root: root)
        let readable = readable(row, root: root)
        var decision = try evaluate(
            readable.edit, readable.edit === row.edit ? action : resolved(readable.edit.action, in: row.section),
            of: row,
            on: isDependent ? FoundRow(.unreachable, item: found.item) : try guarded(found, of: row, for: action))
        if isDependent, let current = found.current { decision.showCurrent(current) }
        if let current = found.current { try addPreventedCascades(&decision, of: row, current: current) }
        let first = progress.reports[row.index].outcomes.count
        progress.reports[row.index].outcomes += decision.outcomes
        if decision.isRejected { progress.reports[row.index].isRejected = true }
        if !progress.reports[row.index].isMerged {
            if isRoot, case .delete = decision.change { root = nil }
            return
        }
        try recordNeededRoles(row, decision.change, root: root, outcomes: first)
        try write(decision.change, of: row, found: found.current, known: known?.row, outcomes: first, root: &root)
    }

    private func evaluate(
        _ edit: RowEdit, _ action: RowAction, of row: EditedRow, on found: FoundRow
    ) throws(PushStop) -> RowDecision {
        do throws(Problem) {
            return try EditEvaluator(digest: run.digest).evaluate(
                edit, action: action, in: row.section, on: found,
                spending: &progress.budgets[run.batch.owners[row.index]])
        } catch {
            throw .fault(error)
        }
    }

    private func resolved(_ action: RowAction, in section: Section) -> RowAction {
        action.resolved(in: section) { writer.reference($0) }
    }

    private func guarded(_ found: FoundRow, of row: EditedRow, for action: RowAction) throws(PushStop) -> FoundRow {
        guard let current = found.current, run.active.views.hasGuards(row.resource) else { return found }
        return FoundRow(
            found.state, item: found.item, guards: try facts.guards(of: current, in: row, action, &writer))
    }

    // MARK: Search

    private func found(
        _ row: EditedRow, _ action: RowAction, root: [Value]?, isDependent: Bool
    ) throws(PushStop) -> (FoundRow, LastKnown?) {
        // A creation that depends on a missing row is not searched by its identity.
        if isDependent, row.edit.isCreation { return (uncreated(row, root: root), nil) }
        return row.section.kind == .root
            ? try foundRoot(row, action, root: root) : try foundPart(row, action, of: root)
    }

    private func foundRoot(
        _ row: EditedRow, _ action: RowAction, root: [Value]?
    ) throws(PushStop) -> (FoundRow, LastKnown?) {
        if let root { return (FoundRow(.present(root)), nil) }
        if let found = try identified(row, action, root: nil) {
            // The result contains the record that the edit met, even after a refusal.
            progress.reports[row.index].key = row.section.key(of: found)
            return (FoundRow(.present(found)), nil)
        }
        if isNowhere(row.edit) || !mayBringBack(row) { return (FoundRow(.unreachable), nil) }
        let known = try facts.lastKnown(row, key: nil, in: progress.reports[row.index].key)
        if let known, wasHidden(known, of: row) { return (FoundRow(.unreachable), nil) }
        return (FoundRow(.gone(lastKnown: known?.fields ?? [:])), known)
    }

    private func foundPart(
        _ row: EditedRow, _ action: RowAction, of root: [Value]?
    ) throws(PushStop) -> (FoundRow, LastKnown?) {
        let key = row.edit.id.flatMap { writer.settled($0) }
        let isList = row.section.kind == .list
        guard let root else {
            let sent = row.edit.id?.temporary.map { RowLabel.temporary($0) }
            return (FoundRow(.unreachable, item: isList ? key.map { .key($0) } ?? sent : nil), nil)
        }
        if let key { try check(key, of: row, belongsTo: root) }
        let current =
            isList
            ? try item(key, of: row, action, root: root) : try facts.singleton(row.section, of: root, &writer)
        if let current {
            return (FoundRow(.present(current), item: isList ? .key(row.section.key(of: current)) : nil), nil)
        }
        let item = isList ? key.map { RowLabel.key($0) } : nil
        if isList, isNowhere(row.edit) { return (FoundRow(.unreachable, item: item), nil) }
        let known = try facts.lastKnown(row, key: key, in: progress.reports[row.index].key, of: root)
        if known?.isForeign == true { return (FoundRow(.unreachable, item: item), nil) }
        return (FoundRow(.gone(lastKnown: known?.fields ?? [:]), item: item), known)
    }

    private func item(
        _ key: RecordKey?, of row: EditedRow, _ action: RowAction, root: [Value]
    ) throws(PushStop) -> [Value]? {
        let section = row.section
        let found = try facts.row(
            key, of: section, as: row.id, for: row.step, equated: row.edit.isCreation, &writer)
        if let found, section.parent.allSatisfy({ found[$0.column] == root[$0.rootColumn] }) { return found }
        if row.edit.id?.isSuspect == true { throw .fault(Self.unknownRow(row.edit.path)) }
        return try identified(row, action, root: root)
    }

    /// Refuses an item key that contains the key of another record.
    private func check(_ key: RecordKey, of row: EditedRow, belongsTo root: [Value]) throws(PushStop) {
        let section = row.section
        for link in section.parent
        where link.column < section.keyCount && key.parts[link.column] != root[link.rootColumn] {
            throw .fault(
                Problem(
                    .invalid, about: .contradictoryKey,
                    detail: "The item's key names another record than the edit.",
                    path: row.edit.path.member("id")))
        }
    }

    private static func unknownRow(_ path: WirePath) -> Problem {
        Problem(
            .unknownTemporary,
            detail: "Negative ids are temporary. No edit of this push creates this one.",
            path: path.member("id"))
    }

    /// Adds the cascades that a refused deletion would have had, for tables without a section.
    private func addPreventedCascades(
        _ decision: inout RowDecision, of row: EditedRow, current: [Value]
    ) throws(PushStop) {
        let section = row.section
        guard section.softDelete == nil,
            let index = decision.outcomes.firstIndex(where: { outcome in
                outcome.group == nil && (outcome.kind == .kept || outcome.kind == .rejected)
            })
        else { return }
        let shown = Set(row.resource.sections.map(\.table))
        let steps = try facts.cascades(deleting: current, of: section)
        if steps.isEmpty { return }
        decision.outcomes[index].cascades = steps.map(\.cascade).filter { !shown.contains($0.table) }
    }
}

extension [Value] {
    func setting(_ assignments: [Assignment]) -> [Value] {
        var row = self
        for assignment in assignments { row[assignment.column] = assignment.value }
        return row
    }
}
