/// Decides one row and records the reasons.
extension ExplanationRun {
    mutating func decide(
        _ index: Int, action: RowAction, meeting: RowMeeting, label: RowLabel?, current: CurrentRow?,
        recordIsThere: Bool = true
    ) throws(RecordFault) -> RowDecision {
        let section = resource.sections[index]
        if let current { try check(action, in: section, against: current) }
        let state: FoundRow.State =
            recordIsThere ? current.map { .present($0.values) } ?? .gone(lastKnown: [:]) : .unreachable
        let guards = current == nil ? RowGuards.none : RowGuards(frozen: frozenRule(index, action: action))
        let row = FoundRow(state, item: section.kind == .list ? label : nil, guards: guards)
        // The bases are values and no row comes from a database, so no digest is needed.
        var budget = WorkBudget.push
        let decision = EditEvaluator { _, _, _ in [] }
            .decide(action, at: index, in: section, on: row, spending: &budget)
        if decision.isRejected { isRejected = true }
        for var outcome in complete(decision.outcomes, of: action, in: section, row: current?.values) {
            outcome.section = index
            outcome.item = row.item
            if let current { outcome.show(current.values, as: current.shown(section)) }
            note(outcome, action.circumstance(recordIsThere))
        }
        return decision
    }

    /// Returns the rule that freezes a current row, if any.
    ///
    /// A record is not deleted if a row that would be deleted with it is frozen.
    private func frozenRule(_ index: Int, action: RowAction) -> RuleReference? {
        if frozen.contains(index) { return resource.sections[index].frozenWhen?.rule }
        guard case .delete = action, index == 0, resource.root.softDelete == nil else { return nil }
        let part = frozen.sorted().first { section in
            guard let rows = samples.current?.sections[section] else { return false }
            return rows.one != nil || !rows.many.isEmpty
        }
        return part.flatMap { resource.sections[$0].frozenWhen?.rule }
    }

    mutating func note(_ outcome: Outcome, _ circumstance: Circumstance) {
        let section = resource.sections[outcome.section]
        let reason = OutcomeReason(section: section, outcome: outcome, circumstance: circumstance)
        outcomes.append(ExplainedOutcome(outcome: outcome, why: reason.sentence))
    }

    /// Checks that the current row contains everything that is compared with it.
    private func check(
        _ action: RowAction, in section: Section, against current: CurrentRow
    ) throws(RecordFault) {
        let values = SampleValues(section: section)
        for group in action.groups(in: section) {
            try values.check(section.groups[group], isWholeIn: current.sample, .current)
        }
    }

    /// Adds the groups that the client did not change, and the sides of a missing row.
    private func complete(
        _ outcomes: [Outcome], of action: RowAction, in section: Section, row: [Value]?
    ) -> [Outcome] {
        var out = outcomes
        if let first = out.first, first.sides == nil {
            let base = Shown.fields(action.bases.flatMap(\.fields), action.bases.flatMap(\.values))
            out[0].sides = Sides(base: base, current: .null, edited: .null, written: .null)
        }
        guard case .edit(let edits) = action, out.allSatisfy({ $0.group != nil }) else { return out }
        for edit in edits where !out.contains(where: { $0.group == edit.group }) {
            guard case .values(let base) = edit.base else { continue }
            let current = row.map { Shown.group(section.values(of: edit.group, in: $0)) } ?? .null
            let sides = Sides(
                base: .group(base.values), current: current, edited: .group(edit.edited.values), written: current)
            out.append(Outcome(.unchanged, group: edit.group, sides: sides))
        }
        return out.sorted { ($0.group ?? 0) < ($1.group ?? 0) }
    }
}

extension RowAction {
    func circumstance(_ recordIsThere: Bool) -> Circumstance {
        switch self {
        case .create: recordIsThere ? .creation : .recordIsGone
        case .edit: recordIsThere ? .edit : .recordIsGone
        case .delete: .deletion
        }
    }

    /// The groups that are compared with the current row.
    fileprivate func groups(in section: Section) -> [Int] {
        switch self {
        case .create(let new):
            section.groups.indices.filter { new.fields.contains(where: section.groups[$0].fields.contains) }
        case .edit(let edits): edits.map(\.group)
        case .delete(let bases): bases.map(\.group)
        }
    }

    fileprivate var bases: [FieldValues] {
        switch self {
        case .create: []
        case .edit(let edits):
            edits.compactMap { edit in
                if case .values(let values) = edit.base { values } else { nil }
            }
        case .delete(let bases): bases.map(\.base)
        }
    }
}

extension Outcome {
    /// Replaces a whole row in the sides by the fields of its sample.
    fileprivate mutating func show(_ row: [Value], as shown: Shown) {
        guard let sides else { return }
        self.sides = Sides(
            base: sides.base, current: sides.current == .row(row) ? shown : sides.current, edited: sides.edited,
            written: sides.written == .row(row) ? shown : sides.written)
    }
}
