import MergeCore
import RecordStore

/// Deciding the rows of one edit, each on what the ones before it left.
extension PushRun {
    /// Decides and writes the rows of an edit.
    ///
    /// Behind a row that is refused or rejected the others are only decided, to tell the client all conflicts at once.
    func apply(_ step: PushPlan.Step) throws {
        let resource = step.edit.resource
        let rootID = SectionID(resource: resource.name, section: 0)
        let key = settled(step.edit.id)
        if let key { reports[step.index].key = key }
        var root = try row(key, rootID, section: resource.root, step: step, equated: step.edit.createsRecord)
        if root == nil, step.edit.id.isSuspect { throw Self.unknownRow(step.edit.path) }
        let start = changes.now
        for edit in step.rows {
            if dependsOnUnknown(edit) {
                if reports[step.index].isMerged {
                    throw StoreError(.other, "a row was to be written before the row that it refers to")
                }
                continue
            }
            do {
                if edit.section == 0 {
                    // The deletion of an item may have changed the root.
                    if changes.now != start, reports[step.index].isMerged {
                        root = try row(
                            key, rootID, section: resource.root, step: step, equated: step.edit.createsRecord)
                    }
                    root = try applyRoot(edit, step, root)
                } else {
                    try applyPart(edit, step, root)
                }
            } catch let refusal as Refusal {
                reports[step.index].refuse(refusal.problem)
                // What was to hang on the record cannot be told.
                if edit.section == 0, root == nil { return }
            } catch let failure as CheckFailure where failure.report == step.index {
                reports[step.index].refuse(failure.problem)
            } catch is CheckFailure {
                // An update of an earlier edit, which is told from the next run.
                throw mode.oneByOne()
            }
        }
        if let root, reports[step.index].key.map({ !resource.root.isKey($0, of: root) }) ?? true {
            reports[step.index].key = resource.root.key(of: root)
        }
        guard !step.edit.returning.isEmpty, reports[step.index].isMerged else { return }
        do {
            try bringBack(step)
        } catch let refusal as Refusal {
            reports[step.index].refuse(refusal.problem)
        } catch let failure as CheckFailure where failure.report == step.index {
            reports[step.index].refuse(failure.problem)
        }
    }

    func dependsOnUnknown(_ edit: RowEdit) -> Bool {
        switch edit.action {
        case .create(let new): new.resolved(reference).pending.isEmpty == false
        case .edit(let groups):
            groups.contains { !$0.edited.pending.isEmpty && !$0.edited.resolved(reference).pending.isEmpty }
        case .delete: false
        }
    }

    /// Returns true for an edit of a row that an earlier edit did not come to create: it has no key to come back under.
    private func isNowhere(_ edit: RowEdit, _ current: [Value]?) -> Bool {
        guard current == nil, case .edit = edit.action, let id = edit.id else { return false }
        return settled(id) == nil
    }

    func decider(_ section: Section) -> RowDecider {
        RowDecider(section: section) { [digest] group, values in digest(section, group, values) }
    }

    /// - Returns: the root row as far as the other rows of the record need it; nil where it is gone.
    func applyRoot(_ edit: RowEdit, _ step: PushPlan.Step, _ current: [Value]?) throws -> [Value]? {
        let section = step.edit.resource.root
        let action = edit.action.resolved(reference)
        var current = current
        if current == nil, let found = try identified(action, section, edit, step, root: nil) {
            current = found
            // The record that the edit met is told of it, also where it is refused.
            reports[step.index].key = section.key(of: found)
        }
        try ForeignBase(section, digest).check(edit, against: current)
        let known = try current == nil ? lastKnown(edit, step, section, key: nil) : nil
        var decision =
            isNowhere(edit, current)
            ? decider(section).decideWithoutRecord(action, item: nil)
            : decider(section).decide(action, item: nil, current: current, lastKnown: known?.fields ?? [:])
        if let current { try noteSpared(&decision, current, section, step) }
        let first = reports[step.index].outcomes.count
        record(decision, section: 0, step)
        if !reports[step.index].isMerged { return current }
        switch decision.change {
        case .none: return current
        case .update(let assignments):
            try update(assignments, section, current ?? [], edit, step)
            noteWritten(edit, step, section, row: current ?? [], before: current, outcomes: first)
            // Items may be tied to the record by what was written.
            return current.map { row in
                var row = row
                for assignment in assignments { row[assignment.column] = assignment.value }
                return row
            }
        case .insert(let assignments):
            try checkKey(of: edit, section, step)
            let key = try insert(assignments, edit, step, root: nil, extras: known?.row)
            reports[step.index].key = key
            let row = try reader.rows(
                of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true, includesHidden: true
            ).first
            noteWritten(edit, step, section, row: row ?? [], before: nil, outcomes: first)
            return row
        case .delete:
            try deleteRecord(current ?? [], edit, step)
            return nil
        }
    }

    func applyPart(
        _ edit: RowEdit, _ step: PushPlan.Step, _ root: [Value]?
    ) throws {
        let resource = step.edit.resource
        let section = resource.sections[edit.section]
        let action = edit.action.resolved(reference)
        let key = edit.id.flatMap { settled($0) }
        let decider = decider(section)
        guard let root else {
            try ForeignBase(section, digest).check(edit, against: nil)
            var decision = decider.decideWithoutRecord(action, item: key)
            if key == nil, let temporary = edit.id?.temporary {
                for index in decision.outcomes.indices { decision.outcomes[index].item = .temporary(temporary) }
            }
            record(decision, section: edit.section, step)
            return
        }
        if let key { try check(key, of: section, belongsTo: root, edit) }
        var current: [Value]?
        if section.kind == .singleton {
            // Pushes that share the transaction have no singleton in common.
            if !isShared, updates.mayChange(served.footprints[section].table) { try flush() }
            current = try reader.rows(of: section, in: root, locking: true).first
        } else {
            let id = SectionID(resource: resource.name, section: edit.section)
            current = try row(key, id, section: section, step: step, equated: edit.isCreation)
            if let found = current, try !belongs(found, section, to: root) { current = nil }
            if current == nil, edit.id?.isSuspect == true { throw Self.unknownRow(edit.path) }
            current = try current ?? identified(action, section, edit, step, root: root)
        }
        try ForeignBase(section, digest).check(edit, against: current)
        let label = section.kind == .list ? current.map { section.key(of: $0) } ?? key : nil
        let known = try current == nil ? lastKnown(edit, step, section, key: key) : nil
        var decision =
            section.kind == .list && isNowhere(edit, current)
            ? decider.decideWithoutRecord(action, item: label)
            : decider.decide(action, item: label, current: current, lastKnown: known?.fields ?? [:])
        if let current { try noteSpared(&decision, current, section, step) }
        let first = reports[step.index].outcomes.count
        record(decision, section: edit.section, step)
        if !reports[step.index].isMerged { return }
        switch decision.change {
        case .none: return
        case .update(let assignments):
            try update(assignments, section, current ?? [], edit, step)
            noteWritten(edit, step, section, row: current ?? [], before: current, outcomes: first)
        case .insert(let assignments):
            try checkKey(of: edit, section, step)
            let key = try insert(assignments, edit, step, root: root, extras: known?.row)
            if section.kind == .list { reports[step.index].outcomes[first].item = .key(key) }
            noteInserted(edit, step, section, key: key, root: root)
        case .delete: try delete(current ?? [], section, edit, step, outcome: first)
        }
    }

    func record(_ decision: RowDecision, section: Int, _ step: PushPlan.Step) {
        for var outcome in decision.outcomes {
            outcome.section = section
            reports[step.index].outcomes.append(outcome)
        }
        if decision.isRejected { reports[step.index].isRejected = true }
    }

    func belongs(_ row: [Value], _ section: Section, to root: [Value]) throws -> Bool {
        if section.parent.allSatisfy({ row[$0.column] == root[$0.rootColumn] }) { return true }
        guard section.isLinkedByText else { return false }
        return try reader.rows(of: section, in: root, locking: true).contains(row)
    }

    /// A key that names another record than the one it stands in is a mistake of the client's.
    func check(_ key: RecordKey, of section: Section, belongsTo root: [Value], _ edit: RowEdit) throws {
        for link in section.parent
        where link.column < section.keyCount && key.parts[link.column] != root[link.rootColumn] {
            throw Problem(
                status: 400, code: "invalid", title: "The key contradicts the record",
                detail: "The item's key names another record than the one it stands in.", path: edit.path.member("id"))
        }
    }

    static func unknownRow(_ path: WirePath) -> Problem {
        Problem(
            status: 400, code: "unknown-temporary", title: "Unknown temporary id",
            detail: "A negative id names a row that this push creates; it creates none of that name.",
            path: path.member("id"))
    }
}
