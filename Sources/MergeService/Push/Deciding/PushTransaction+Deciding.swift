import MergeCore
import RecordStore

/// Decisions on the rows of one edit, each based on earlier decisions.
extension PushTransaction {
    /// Decides and writes the rows of an edit.
    ///
    /// After a refused or rejected row, the other rows are only decided, so that the answer contains all conflicts.
    func apply(_ step: PushPlan.Step) throws(PushStop) {
        let resource = step.edit.resource
        let key = writer.keys.settled(step.edit.id)
        if let key { progress.reports[step.index].key = key }
        var root = RecordRoot.read(try root(key, for: step))
        if root.isAbsent, step.edit.id.isSuspect { throw .fault(.unknownTemporary(step.edit.path)) }
        let start = writer.changes.now
        for edit in step.rows {
            // After a refusal, rows that depend on a refused row look like rows that depend on a missing row.
            if writer.keys.areMissing(for: edit), !progress.reports[step.index].isMerged { continue }
            do throws(PushStop) {
                // The deletion of an item may have changed the root.
                if edit.section == 0, writer.changes.now != start, progress.reports[step.index].isMerged {
                    root = .read(try self.root(key, for: step))
                }
                try apply(EditedRow(edit: edit, step: step), in: &root)
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
                    if edit.section == 0, root.isAbsent { return }
                case .again, .fault: throw error
                }
            }
        }
        if case .read(let root?) = root,
            progress.reports[step.index].key.map({ !resource.root.isKey($0, of: root) }) ?? true
        {
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

    /// Returns the root row of an edit; nil if it does not exist for the client.
    private func root(_ key: RecordKey?, for step: PushPlan.Step) throws(PushStop) -> [Value]? {
        let place = SectionPlace(step.edit.resource, 0)
        let root = try facts.decide(for: step, &writer) { facts throws(DecidingStop) in
            try facts.row(key, of: place, equated: step.edit.createsRecord)
        }
        return shown(root, to: step.index)
    }

    /// Reads the root row of a record again if it is outdated; nil if it does not exist.
    private func current(_ record: inout RecordRoot, of root: Section) throws(PushStop) -> [Value]? {
        switch record {
        case .read(let row): return row
        case .outdated(let key):
            let row = try facts.rows(of: root, withKey: key, includesHidden: true, &writer).first
            record = .read(row)
            return row
        }
    }

    /// Decides and writes one row of an edit.
    ///
    /// - Parameter record: the root row, which a write may change for the rows that follow.
    private func apply(_ row: EditedRow, in record: inout RecordRoot) throws(PushStop) {
        let isRoot = row.section.kind == .root
        var root = try current(&record, of: row.resource.root)
        let action = row.edit.action.resolved(in: row.section) { writer.keys.reference($0) }
        let found = try facts.decide(for: row.step, &writer) { [root] facts throws(DecidingStop) in
            try RowSearch(
                row: row, action: action, root: root, report: progress.reports[row.index], facts: facts
            ).result()
        }
        if found.isIdentified { recordIdentified(found, row: row) }
        let current = found.row.current
        if isRoot {
            root = current
            record = .read(current)
        }
        let owner = run.batch.owners[row.index]
        let decision = try facts.decide(for: row.step, &writer) { [root] facts throws(DecidingStop) in
            try RowEvaluation(
                row: row, action: action, found: found.row, root: root, report: progress.reports[row.index],
                facts: facts
            ).decision(spending: &progress.budgets[owner])
        }
        let first = progress.reports[row.index].outcomes.count
        progress.reports[row.index].outcomes += decision.outcomes
        if decision.isRejected { progress.reports[row.index].isRejected = true }
        if !progress.reports[row.index].isMerged {
            if isRoot, case .delete = decision.change { record = .read(nil) }
            return
        }
        try recordNeededRoles(row, decision.change, root: root, outcomes: first)
        try write(
            decision.change, of: row, found: current, known: found.known?.row, outcomes: first, root: root,
            record: &record)
        // A trigger may have changed the column that links the next row.
        if !isRoot, decision.change != .none, run.footprint(row.section).reach == .everything,
            run.footprint(row.resource.root).linksBesidesKey, case .read(let root?) = record
        {
            record = .outdated(row.resource.root.key(of: root))
        }
    }

    /// Names the row that a creation found by its natural key.
    ///
    /// The result contains the record that the edit met, even after a refusal.
    private func recordIdentified(_ found: RowSearch.Result, row: EditedRow) {
        guard let current = found.row.current else { return }
        let key = row.section.key(of: current)
        if row.section.kind == .root {
            _ = shown(current, to: row.index)
            progress.reports[row.index].key = key
        }
        guard let temporary = row.edit.id?.temporary else { return }
        writer.keys.name(temporary, key)
        progress.reports[row.index].ids.append(
            IDMapping(temporary: temporary, key: key, section: row.edit.section))
    }

    // MARK: Facts

    /// Asks the guards of all edits before the first write, because a guard may test rows that an edit writes.
    func askGuards() throws(PushStop) {
        let guarded = plan.steps.filter { run.active.views.hasGuards($0.edit.resource) }
        if guarded.isEmpty { return }
        if try canAsk({ () throws(PushStop) in try askGuards(of: guarded) }) { return }
        for step in guarded { _ = try canAsk { () throws(PushStop) in try askGuards(of: [step]) } }
    }

    private func askGuards(of steps: [PushPlan.Step]) throws(PushStop) {
        try facts.load(steps, &writer)
        try ask(steps)
    }

    /// Asks the questions of a wave's edits together, as far as they do not depend on the writes of the wave.
    ///
    /// The edits repeat unanswered questions, for example about a row that cannot be read.
    func askTogether(_ wave: [PushPlan.Step]) throws(PushStop) {
        let asking = wave.filter { isLive($0) && $0.mayAsk(run.active) }
        if asking.count < 2, asking.first.map({ $0.rows.count < 2 }) ?? true { return }
        _ = try canAsk { () throws(PushStop) in try ask(asking) }
    }

    private func ask(_ steps: [PushPlan.Step]) throws(PushStop) {
        var asked: [Question] = []
        while true {
            let view = facts.view(after: writer)
            let questions = steps.flatMap { openQuestions(of: $0, view) }
            // An answer may lead to further questions, for example those of a found row.
            if questions.isEmpty || questions == asked { return }
            try facts.answer(questions, &writer)
            asked = questions
        }
    }

    /// Returns false if the questions concern a row that can never be read; its own edit is refused later.
    private func canAsk(_ body: () throws(PushStop) -> Void) throws(PushStop) -> Bool {
        do throws(PushStop) {
            try body()
            return true
        } catch {
            guard case .store(let cause) = error, cause.refusal != nil else { throw error }
            return false
        }
    }

    /// Returns the open questions of a step's rows before its writes.
    private func openQuestions(of step: PushPlan.Step, _ facts: FactView) -> [Question] {
        let key = facts.keys.settled(step.edit.id)
        var report = progress.reports[step.index]
        report.key = key ?? report.key
        guard let root = key.flatMap({ facts.known($0, of: SectionPlace(step.edit.resource, 0))?.row }) else {
            return []
        }
        if run.view(of: step.index)?.shows(root) == false { return [] }
        return step.rows.flatMap { edit -> [Question] in
            let row = EditedRow(edit: edit, step: step)
            let action = edit.action.resolved(in: row.section) { facts.keys.reference($0) }
            do throws(DecidingStop) {
                let found = try RowSearch(row: row, action: action, root: root, report: report, facts: facts).result()
                if let current = found.row.current { _ = try facts.guards(of: current, in: row, action) }
            } catch {
                if case .unanswered(let questions) = error { return questions }
            }
            return []
        }
    }
}

extension PushPlan.Step {
    /// Returns true if the edit may have questions besides its rows by key.
    fileprivate func mayAsk(_ active: ActiveRules) -> Bool {
        active.views.hasGuards(edit.resource)
            || rows.contains { row in
                let section = edit.resource.sections[row.section]
                return section.kind == .singleton || section.identity != nil
            }
    }
}

extension [Value] {
    func setting(_ assignments: [Assignment]) -> [Value] {
        var row = self
        for assignment in assignments { row[assignment.column] = assignment.value }
        return row
    }
}
