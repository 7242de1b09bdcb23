import MergeCore
import RecordStore

/// Decisions on the rows of one edit, each based on earlier decisions.
extension PushTransaction {
    /// Decides and writes the rows of an edit.
    ///
    /// After a refused or rejected row, the other rows are only decided, so that the answer contains all conflicts.
    func apply(_ step: PushPlan.Step) throws {
        let resource = step.edit.resource
        let rootID = SectionID(resource: resource.name, section: 0)
        let key = settled(step.edit.id)
        if let key { reports[step.index].key = key }
        var root = shown(
            try row(key, of: resource.root, as: rootID, for: step, equated: step.edit.createsRecord), to: step.index)
        if root == nil, step.edit.id.isSuspect { throw Self.unknownRow(step.edit.path) }
        let start = changes.now
        for edit in step.rows {
            // After a refusal, rows that depend on a refused row look like rows that depend on a missing row.
            if dependsOnMissing(edit), !reports[step.index].isMerged { continue }
            do {
                if edit.section == 0 {
                    // The deletion of an item may have changed the root.
                    if changes.now != start, reports[step.index].isMerged {
                        root = shown(
                            try row(
                                key, of: resource.root, as: rootID, for: step, equated: step.edit.createsRecord),
                            to: step.index)
                    }
                }
                try apply(EditedRow(edit: edit, step: step), root: &root)
            } catch let error as StoreError {
                guard let problem = error.refusal(of: edit.path) else { throw error }
                return reports[step.index].refuse(problem)
            } catch let refusal as Refusal {
                reports[step.index].refuse(refusal.problem)
                // The outcomes of the new record's other rows cannot be decided.
                if edit.section == 0, root == nil { return }
            } catch let failure as CheckFailure where failure.report == step.index {
                reports[step.index].refuse(failure.problem)
            } catch is CheckFailure {
                // The refused update belongs to an earlier edit; the next run reports it.
                throw RunAgain.editByEdit
            }
        }
        if let root, reports[step.index].key.map({ !resource.root.isKey($0, of: root) }) ?? true {
            reports[step.index].key = resource.root.key(of: root)
        }
        guard !step.edit.reversals.isEmpty, reports[step.index].isMerged else { return }
        do {
            try restoreCascades(step)
        } catch let refusal as Refusal {
            reports[step.index].refuse(refusal.problem)
        } catch let failure as CheckFailure where failure.report == step.index {
            reports[step.index].refuse(failure.problem)
        }
    }

    /// True for an edit of a row that an earlier edit did not create; without a key it cannot be restored.
    private func isNowhere(_ edit: RowEdit) -> Bool {
        guard case .edit = edit.action, let id = edit.id else { return false }
        return settled(id) == nil
    }

    /// Decides and writes one row of an edit.
    ///
    /// - Parameter root: the record's own row; nil if it does not exist. An edit of the root updates it for the
    ///   record's other rows.
    private func apply(_ row: EditedRow, root: inout [Value]?) throws {
        let isRoot = row.section.kind == .root
        let action = row.edit.action.resolved(in: row.section, reference)
        let isDependent = dependsOnMissing(row.edit)
        var known: LastKnown?
        func find() throws -> FoundRow {
            let found = isRoot ? try foundRoot(row, action, root: root) : try foundPart(row, action, of: root)
            known = found.1
            return found.0
        }
        let found = isDependent ? try foundDependent(row, root: root, find) : try find()
        if isRoot { root = found.current }
        try checkRights(row, on: found, root: root)
        let readable = readable(row, root: root)
        var decision = try evaluator.evaluate(
            readable.edit,
            action: readable.edit === row.edit
                ? action : readable.edit.action.resolved(in: row.section, reference),
            in: row.section,
            on: isDependent ? FoundRow(.unreachable, item: found.item) : try guarded(found, row, action),
            spending: &budgets[batch.owners[row.index]])
        if isDependent, let current = found.current { decision.noteCurrent(current) }
        if let current = found.current { try noteSpared(&decision, of: row, current: current) }
        let first = reports[row.index].outcomes.count
        reports[row.index].outcomes += decision.outcomes
        if decision.isRejected { reports[row.index].isRejected = true }
        if !reports[row.index].isMerged {
            if isRoot, case .delete = decision.change { root = nil }
            return
        }
        try noteNeeds(row, decision.change, root: root, outcomes: first)
        switch decision.change {
        case .none: noteMet(row, values: found.current ?? [], outcomes: first)
        case .update(let assignments):
            let current = found.current ?? []
            let refusal = try hiddenReference(assignments, of: row, current: current, root: root)
            try update(assignments, of: row, current: current)
            try refuse(refusal)
            noteWritten(row, values: current, before: found.current, outcomes: first)
            // Items may refer to the written columns.
            if isRoot { root = current.setting(assignments) }
        case .insert(let assignments):
            try checkKey(of: row)
            let whole = try completing(assignments, of: row, known: known?.row)
            let refusal = try hiddenReference(whole, of: row, current: nil, root: root)
            let key = try insert(whole, as: row, root: root, extras: known?.row)
            try refuse(refusal)
            try noteNew(row, key: key, outcome: first, root: &root)
        case .delete where isRoot:
            try deleteRecord(row, root: found.current ?? [])
            root = nil
        case .delete: try delete(row, current: found.current ?? [], outcome: first)
        }
    }

    private func guarded(_ found: FoundRow, _ row: EditedRow, _ action: RowAction) throws -> FoundRow {
        guard let current = found.current, active.views.hasGuards(row.resource) else { return found }
        return FoundRow(found.state, item: found.item, guards: try guards(of: current, in: row, action))
    }

    private var evaluator: EditEvaluator { EditEvaluator(digest: digest) }

    private func noteNew(_ row: EditedRow, key: RecordKey, outcome: Int, root: inout [Value]?) throws {
        let section = row.section
        guard section.kind == .root else {
            if section.kind == .list { reports[row.index].outcomes[outcome].item = .key(key) }
            if let root { noteInserted(row, key: key, root: root) }
            return
        }
        reports[row.index].key = key
        root = try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true, includesHidden: true,
            includesEquated: true
        ).first
        noteWritten(row, values: root ?? [], before: nil, outcomes: outcome)
    }

    // MARK: Search

    private func foundRoot(
        _ row: EditedRow, _ action: RowAction, root: [Value]?
    ) throws -> (FoundRow, LastKnown?) {
        if let root { return (FoundRow(.present(root)), nil) }
        if let found = try identified(row, action, root: nil) {
            // The result contains the record that the edit met, even after a refusal.
            reports[row.index].key = row.section.key(of: found)
            return (FoundRow(.present(found)), nil)
        }
        if isNowhere(row.edit) { return (FoundRow(.unreachable), nil) }
        if !mayBringBack(row) { return (FoundRow(.unreachable), nil) }
        let known = try lastKnown(row, key: nil)
        if let known, wasHidden(known, of: row) { return (FoundRow(.unreachable), nil) }
        return (FoundRow(.gone(lastKnown: known?.fields ?? [:])), known)
    }

    private func foundPart(
        _ row: EditedRow, _ action: RowAction, of root: [Value]?
    ) throws -> (FoundRow, LastKnown?) {
        let key = row.edit.id.flatMap { settled($0) }
        let isList = row.section.kind == .list
        guard let root else {
            let sent = row.edit.id?.temporary.map { RowLabel.temporary($0) }
            return (FoundRow(.unreachable, item: isList ? key.map { .key($0) } ?? sent : nil), nil)
        }
        if let key { try check(key, of: row, belongsTo: root) }
        let current = isList ? try item(key, of: row, action, root: root) : try singleton(row.section, of: root)
        if let current {
            return (FoundRow(.present(current), item: isList ? .key(row.section.key(of: current)) : nil), nil)
        }
        let item = isList ? key.map { RowLabel.key($0) } : nil
        if isList, isNowhere(row.edit) { return (FoundRow(.unreachable, item: item), nil) }
        let known = try lastKnown(row, key: key, of: root)
        if known?.isStrange == true { return (FoundRow(.unreachable, item: item), nil) }
        return (FoundRow(.gone(lastKnown: known?.fields ?? [:]), item: item), known)
    }

    private func singleton(_ section: Section, of root: [Value]) throws -> [Value]? {
        // Pushes that share the transaction have no singleton in common.
        if !batch.isShared, updates.mayChange(active.footprints[section].table) { try flush() }
        return try reader.rows(of: section, in: root, locking: true).first
    }

    private func item(_ key: RecordKey?, of row: EditedRow, _ action: RowAction, root: [Value]) throws -> [Value]? {
        let found = try self.row(key, of: row.section, as: row.id, for: row.step, equated: row.edit.isCreation)
        if let found, belongs(found, row.section, to: root) { return found }
        if row.edit.id?.isSuspect == true { throw Self.unknownRow(row.edit.path) }
        return try identified(row, action, root: root)
    }

    func belongs(_ row: [Value], _ section: Section, to root: [Value]) -> Bool {
        section.parent.allSatisfy { row[$0.column] == root[$0.rootColumn] }
    }

    /// Refuses an item key that contains the key of another record.
    func check(_ key: RecordKey, of row: EditedRow, belongsTo root: [Value]) throws {
        let section = row.section
        for link in section.parent
        where link.column < section.keyCount && key.parts[link.column] != root[link.rootColumn] {
            throw Problem(
                .invalid, about: .contradictoryKey,
                detail: "The item's key names another record than the one it stands in.",
                path: row.edit.path.member("id"))
        }
    }

    static func unknownRow(_ path: WirePath) -> Problem {
        Problem(
            .unknownTemporary,
            detail: "A negative id names a row that this push creates; it creates none of that name.",
            path: path.member("id"))
    }
}

extension [Value] {
    func setting(_ assignments: [Assignment]) -> [Value] {
        var row = self
        for assignment in assignments { row[assignment.column] = assignment.value }
        return row
    }
}
