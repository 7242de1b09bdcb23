/// Decides rows of one section as a pure function.
package struct RowDecider {
    /// The section of the rows.
    package let section: Section
    private let guards: RowGuards
    private let digest: (_ group: Int, [Value]) -> [UInt8]

    /// Creates a decider with a function for the digest of a group's wire form.
    package init(
        section: Section, guards: RowGuards = .none, digest: @escaping (_ group: Int, [Value]) -> [UInt8]
    ) {
        self.guards = guards
        self.section = section
        self.digest = digest
    }

    /// Decides an action on a row.
    ///
    /// - Parameters:
    ///   - action: The client's action with the real keys of all temporary ids.
    ///   - item: The row's real key in a list, for the outcomes.
    ///   - current: The row in the database, or nil if it is gone.
    ///   - lastKnown: The journal's last values of a missing row.
    package func decide(
        _ action: RowAction, item: RecordKey?, current: [Value]?, lastKnown: [Int: Value] = [:],
        spending budget: inout WorkBudget
    ) -> RowDecision {
        switch (action, current) {
        case (.create(let new), nil): create(new, item: item)
        case (.create(let new), .some(let row)): merge(created: new, item: item, into: row, spending: &budget)
        case (.edit(let groups), nil): edit(missing: groups, item: item, lastKnown: lastKnown)
        case (.edit(let groups), .some(let row)): edit(groups, item: item, of: row, spending: &budget)
        case (.delete, nil): RowDecision(outcomes: [Outcome(.already, item: item)], change: .none)
        case (.delete(let groups), .some(let row)): delete(groups, item: item, of: row)
        }
    }

    /// Decides an action on a row with the budget of a whole push.
    package func decide(
        _ action: RowAction, item: RecordKey?, current: [Value]?, lastKnown: [Int: Value] = [:]
    ) -> RowDecision {
        var budget = WorkBudget.push
        return decide(action, item: item, current: current, lastKnown: lastKnown, spending: &budget)
    }

    private func create(_ new: FieldValues, item: RecordKey?) -> RowDecision {
        let sides = Sides(
            base: .null, current: .null, edited: .fields(new.fields, new.values),
            written: .fields(new.fields, new.values))
        return RowDecision(
            outcomes: [Outcome(.inserted, item: item, sides: sides)], change: .insert(assignments(new)))
    }

    private func assignments(_ values: FieldValues) -> [Assignment] {
        zip(values.fields, values.values).map { field, value in
            Assignment(column: section.fields[field].column, value: value)
        }
    }

    /// Merges each group of an existing row with an absent base; omitted fields count as current.
    private func merge(
        created new: FieldValues, item: RecordKey?, into row: [Value], spending budget: inout WorkBudget
    ) -> RowDecision {
        var sent: [Int: Value] = [:]
        for (field, value) in zip(new.fields, new.values) { sent[field] = value }
        var result = RowDecision(outcomes: [], change: .none)
        var assignments: [Assignment] = []
        for (index, group) in section.groups.enumerated() where group.fields.contains(where: { sent[$0] != nil }) {
            let current = section.values(of: index, in: row)
            let edited = zip(group.fields, current).map { sent[$0] ?? $1 }
            apply(
                index, base: nil, shownBase: .null, edited: edited, current: current, item: item, to: &result,
                assigning: &assignments, spending: &budget)
        }
        result.change = assignments.isEmpty ? .none : .update(assignments)
        return result
    }

    private func edit(
        _ groups: [GroupEdit], item: RecordKey?, of row: [Value], spending budget: inout WorkBudget
    ) -> RowDecision {
        var result = RowDecision(outcomes: [], change: .none)
        var assignments: [Assignment] = []
        for edit in groups {
            let current = section.values(of: edit.group, in: row)
            apply(
                edit.group, base: Self.state(edit.base), shownBase: Self.shown(edit.base),
                edited: edit.edited.values, current: current, item: item, to: &result, assigning: &assignments,
                spending: &budget)
        }
        result.change = assignments.isEmpty ? .none : .update(assignments)
        return result
    }

    private func apply(
        _ index: Int, base: GroupState?, shownBase: Shown, edited: [Value], current: [Value], item: RecordKey?,
        to result: inout RowDecision, assigning assignments: inout [Assignment], spending budget: inout WorkBudget
    ) {
        let group = section.groups[index]
        let decision = GroupDecision.decide(
            base: base, edited: edited, current: current, group: group, types: section.types(of: index),
            digest: { digest(index, $0) }, spending: &budget
        ).guarded(
            by: guards, in: group, before: guards.before.map { section.values(of: index, in: $0) } ?? current)
        if decision.outcome == .unchanged { return }
        if decision.outcome == .rejected { result.isRejected = true }
        var outcome = Outcome(
            decision.outcome, item: item, group: index, rule: decision.rule,
            sides: Sides(
                base: shownBase, current: .group(current), edited: .group(edited),
                written: .group(decision.written ?? current)), isConflict: decision.isConflict)
        if !decision.parts.isEmpty { outcome.parts = decision.parts }
        if let fallback = decision.fallback { outcome.fallback = fallback }
        if let kind = decision.guardKind { outcome.guardKind = kind }
        result.outcomes.append(outcome)
        guard let written = decision.written else { return }
        // Unchanged columns are not written, so they fire no trigger or ON UPDATE clause.
        assignments.reserveCapacity(assignments.count + group.fields.count)
        for (field, (value, held)) in zip(group.fields, zip(written, current)) where value != held {
            assignments.append(Assignment(column: section.fields[field].column, value: value))
        }
    }

    private func edit(missing groups: [GroupEdit], item: RecordKey?, lastKnown: [Int: Value]) -> RowDecision {
        let wishes = groups.filter { edit in
            !Self.state(edit.base).matches(edit.edited.values) { digest(edit.group, $0) }
        }
        if wishes.isEmpty { return RowDecision(outcomes: [], change: .none) }
        let edited = Self.joined(groups.map(\.edited))
        guard section.onMissing.value == .restore else {
            return missing(base: Self.shownBases(groups), edited: Self.merged([edited]), item: item)
        }
        let written = Self.joined(groups.map(writable))
        var outcome = Outcome(.restored, item: item, rule: section.onMissing.rule, isConflict: true)
        outcome.sides = Sides(
            base: Self.shownBases(groups), current: .null, edited: Self.merged([edited]),
            written: Self.merged([written]))
        return RowDecision(outcomes: [outcome], change: .insert(restored(written, of: edited, lastKnown)))
    }

    /// Returns the edited values without bases that are only repeated and never written.
    private func writable(_ edit: GroupEdit) -> FieldValues {
        let positions = edit.edited.values.indices.filter { position in
            let value = edit.edited.values[position]
            if case .values(let base) = edit.base, base.values[position] != value { return true }
            return section.type(ofField: edit.edited.fields[position]).forbidsWriting(value) == nil
        }
        return FieldValues(
            fields: positions.map { edit.edited.fields[$0] }, values: positions.map { edit.edited.values[$0] })
    }

    /// Returns the client's values, and the journal's last values for the fields that the client did not send.
    private func restored(
        _ written: FieldValues, of edited: FieldValues, _ lastKnown: [Int: Value]
    ) -> [Assignment] {
        var known: [Assignment] = []
        for (index, field) in section.fields.enumerated() where !edited.fields.contains(index) {
            // A value that is never written would make the whole restoration fail.
            guard let value = lastKnown[index], section.columns[field.column].type.forbidsWriting(value) == nil else {
                continue
            }
            known.append(Assignment(column: field.column, value: value))
        }
        return assignments(written) + known
    }

    /// Returns the decision on an edit of a missing row, or of a row without a record.
    private func missing(base: Shown, edited: Shown, item: RecordKey?) -> RowDecision {
        let isRejected = section.onMissing.value == .reject
        let outcome = Outcome(
            isRejected ? .rejected : .missing, item: item, rule: section.onMissing.rule,
            sides: Sides(base: base, current: .null, edited: edited, written: .null), isConflict: true)
        return RowDecision(outcomes: [outcome], change: .none, isRejected: isRejected)
    }

    /// Decides an action on a row whose record is gone, so that nothing can be created or changed.
    package func decideWithoutRecord(_ action: RowAction, item: RecordKey?) -> RowDecision {
        switch action {
        case .create(let new): return missing(base: .null, edited: .fields(new.fields, new.values), item: item)
        case .edit(let groups):
            let decision = edit(missing: groups, item: item, lastKnown: [:])
            guard case .insert = decision.change else { return decision }
            return missing(
                base: Self.shownBases(groups), edited: Self.merged(groups.map(\.edited)), item: item)
        case .delete: return decide(action, item: item, current: nil)
        }
    }

    private func delete(_ groups: [GroupBase], item: RecordKey?, of row: [Value]) -> RowDecision {
        let isConflict = groups.contains { group in
            let current = section.values(of: group.group, in: row)
            return group.base.values != current
                && !GroupState.values(group.base.values)
                    .isShown(by: current, section.types(of: group.group)) { digest(group.group, $0) }
        }
        let base = Self.merged(groups.map(\.base))
        if let rule = guards.frozen { return spared(row, base: base, item: item, rule: rule, by: .frozen) }
        if guards.hasLaterRows { return spared(row, base: base, item: item, rule: section.onDeleteConflict.rule) }
        let gone = Sides(base: base, current: .row(row), edited: .null, written: .null)
        guard isConflict else {
            let rule = section.softDelete?.rule ?? .default
            return RowDecision(outcomes: [Outcome(.deleted, item: item, rule: rule, sides: gone)], change: .delete)
        }
        let rule = section.onDeleteConflict.rule
        switch section.onDeleteConflict.value {
        case .delete:
            let outcome = Outcome(.deleted, item: item, rule: rule, sides: gone, isConflict: true)
            return RowDecision(outcomes: [outcome], change: .delete)
        case .keep, .reject: return spared(row, base: base, item: item, rule: rule)
        }
    }

    /// Returns the decision on a row that is kept although the client deleted it.
    private func spared(
        _ row: [Value], base: Shown, item: RecordKey?, rule: RuleReference, by kind: GuardKind? = nil
    ) -> RowDecision {
        let isRejected = section.onDeleteConflict.value == .reject
        var outcome = Outcome(
            isRejected ? .rejected : .kept, item: item, rule: rule,
            sides: Sides(base: base, current: .row(row), edited: .null, written: .row(row)), isConflict: true)
        if let kind { outcome.guardKind = kind }
        return RowDecision(outcomes: [outcome], change: .none, isRejected: isRejected)
    }

    private static func state(_ base: Base) -> GroupState {
        switch base {
        case .values(let fields): .values(fields.values)
        case .digest(let digest): .digest(digest)
        }
    }

    private static func shown(_ base: Base) -> Shown {
        switch base {
        case .values(let fields): .group(fields.values)
        case .digest(let digest): .digest(digest)
        }
    }

    private static func joined(_ parts: [FieldValues]) -> FieldValues {
        FieldValues(fields: parts.flatMap(\.fields), values: parts.flatMap(\.values))
    }

    private static func merged(_ parts: [FieldValues]) -> Shown {
        let all = joined(parts)
        return .fields(all.fields, all.values)
    }

    private static func shownBases(_ groups: [GroupEdit]) -> Shown {
        let held = groups.compactMap { edit in
            if case .values(let fields) = edit.base { fields } else { nil }
        }
        return merged(held)
    }
}
