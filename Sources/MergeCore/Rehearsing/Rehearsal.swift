/// Decides outcomes of the journal again, under the active rules and under new rules of the same resource.
///
/// It calls the evaluator of pushes. The database alone can evaluate `frozen-when`, and an entry does not contain
/// everything. So the rehearsal decides under each circumstance that fits the recorded outcome. It gives a verdict if all of
/// them lead to the same one.
package struct Rehearsal {
    private let active: Resource
    private let new: Resource
    private let evaluator: EditEvaluator

    /// Compares two versions of a resource.
    package init(active: Resource, new: Resource, digest: @escaping EditEvaluator.Digest) {
        self.active = active
        self.new = new
        evaluator = EditEvaluator(digest: digest)
    }

    /// Compares the decisions on one outcome, read under both rules.
    package func judge(
        _ recorded: RecordedOutcome, active edit: RehearsedEdit, new newEdit: RehearsedEdit
    ) -> RehearsalVerdict {
        if let obstacle = obstacle(edit, newEdit: newEdit) { return .unjudged(obstacle) }
        let possible = circumstances(edit, newEdit: newEdit)
        var comparisons = possible.map { Comparison($0, by: self, active: edit, new: newEdit) }
        if recorded.isOfActiveRules {
            let likely = comparisons.filter { $0.difference.active.kinds == [recorded.kind] }
            let exact = likely.filter { $0.difference.active.outcomes.first?.rule.text == recorded.rule }
            comparisons = exact.isEmpty ? likely : exact
        }
        guard let first = comparisons.first else { return .unjudged(.unexplained) }
        if comparisons.allSatisfy(\.isSame) { return .same }
        if comparisons.allSatisfy({ $0.equals(first) }) { return .different(first.difference) }
        return .unjudged(doubt(comparisons.map(\.circumstances)))
    }

    /// Facts that an entry does not contain.
    private struct Circumstances {
        let reading: RehearsedEdit.Reading
        let state: Int
        let isFrozen: Bool
        let isFrozenByNew: Bool
    }

    private struct Comparison {
        let circumstances: Circumstances
        let difference: RehearsalDifference

        init(
            _ circumstances: Circumstances, by rehearsal: Rehearsal, active edit: RehearsedEdit,
            new newEdit: RehearsedEdit
        ) {
            self.circumstances = circumstances
            difference = RehearsalDifference(
                active: rehearsal.decide(
                    edit, under: rehearsal.active, in: circumstances, isFrozen: circumstances.isFrozen),
                new: rehearsal.decide(
                    newEdit, under: rehearsal.new, in: circumstances, isFrozen: circumstances.isFrozenByNew))
        }

        var isSame: Bool { difference.active.isSame(as: difference.new) }

        func equals(_ other: Comparison) -> Bool {
            difference.active.isSame(as: other.difference.active) && difference.new.isSame(as: other.difference.new)
        }
    }

    private func circumstances(_ edit: RehearsedEdit, newEdit: RehearsedEdit) -> [Circumstances] {
        var circumstances: [Circumstances] = []
        for reading in RehearsedEdit.Reading.allCases {
            guard let action = edit.actions[reading], let newAction = newEdit.actions[reading] else { continue }
            let guards = active.freezing(edit.section, action: action)
            let newGuards = new.freezing(newEdit.section, action: newAction)
            let isTied = guards.mapValues(\.value) == newGuards.mapValues(\.value)
            for (state, row) in zip(edit.states, newEdit.states).enumerated() {
                for isFrozen in row.0.isPresent && !guards.isEmpty ? [false, true] : [false] {
                    let others = row.1.isPresent && !newGuards.isEmpty ? [false, true] : [false]
                    for other in isTied && row.0.isPresent && row.1.isPresent ? [isFrozen] : others {
                        circumstances.append(
                            Circumstances(reading: reading, state: state, isFrozen: isFrozen, isFrozenByNew: other))
                    }
                }
            }
        }
        return circumstances
    }

    private func decide(
        _ edit: RehearsedEdit, under resource: Resource, in circumstances: Circumstances, isFrozen: Bool
    ) -> RehearsedDecision {
        let section = resource.sections[edit.section]
        let state = edit.states[circumstances.state]
        let action = edit.actions[circumstances.reading] ?? .edit([])
        let rule = isFrozen ? resource.freezing(edit.section, action: action).min { $0.key < $1.key }?.value.rule : nil
        var budget = WorkBudget.push
        let decision = evaluator.decide(
            action, at: edit.section, in: section, on: FoundRow(state.found, guards: RowGuards(frozen: rule)),
            spending: &budget)
        return RehearsedDecision(decision, of: edit, action: action, state: state, in: section)
    }

    /// Returns the difference of the rules that only the database could evaluate, if any.
    private func obstacle(_ edit: RehearsedEdit, newEdit: RehearsedEdit) -> UnjudgedReason? {
        let (section, newSection) = (active.sections[edit.section], new.sections[newEdit.section])
        if section.table != newSection.table || section.kind != newSection.kind { return .otherTable }
        if section.visibility?.value != newSection.visibility?.value
            || active.root.visibility?.value != new.root.visibility?.value
        {
            return .visibility
        }
        let mayCreate = edit.actions.values.contains { if case .create = $0 { true } else { false } }
        return mayCreate && section.identityNames != newSection.identityNames ? .identity : nil
    }

    /// Returns the circumstance that makes the verdict doubtful.
    private func doubt(_ circumstances: [Circumstances]) -> UnjudgedReason {
        if Set(circumstances.map { [$0.isFrozen, $0.isFrozenByNew] }).count > 1 { return .frozen }
        return Set(circumstances.map(\.state)).count > 1 ? .recordPresence : .absentBase
    }
}

extension RehearsedEdit.RowState {
    fileprivate var isPresent: Bool { if case .present = self { true } else { false } }
}

extension Resource {
    /// Returns the conditions by section that may freeze a row against an action.
    ///
    /// A record is not deleted if a row that would be deleted with it is frozen.
    fileprivate func freezing(_ position: Int, action: RowAction) -> [String: Ruled<String>] {
        var rules: [String: Ruled<String>] = [:]
        let isWholeRecord = if case .delete = action { position == 0 && root.softDelete == nil } else { false }
        for section in isWholeRecord ? sections : [sections[position]] { rules[section.name] = section.frozenWhen }
        return rules
    }
}

extension Section {
    fileprivate var identityNames: [String] { (identity?.value ?? []).map { columns[$0].name } }
}
