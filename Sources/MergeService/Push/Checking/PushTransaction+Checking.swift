import MergeCore
import RecordStore

/// The rules' checks, after all writes.
extension PushTransaction {
    /// Records a written row for the checks.
    ///
    /// - Parameters:
    ///   - values: the row's values, which contain its address.
    ///   - before: the row before the edit; nil for an insertion.
    ///   - first: the position of the row's first outcome.
    func recordWritten(_ row: EditedRow, values: [Value], before: [Value]?, outcomes first: Int) {
        guard row.section.isChecked, !values.isEmpty else { return }
        // A row that was inserted through another resource did not exist before the push either. An independent edit is
        // checked against the values before this edit.
        let isNew = !run.isEachForItself && facts.before.isNew(values, in: row.section)
        checks.note(row, values: values, before: isNew ? nil : before, traces: traces(of: row, outcomes: first))
    }

    func traces(of row: EditedRow, outcomes first: Int) -> [WrittenRows.Trace] {
        let outcomes = progress.reports[row.index].outcomes
        return outcomes.indices.dropFirst(first).compactMap { index in
            guard let group = outcomes[index].group, outcomes[index].kind.writes else { return nil }
            return WrittenRows.Trace(report: row.index, outcome: index, group: group)
        }
    }

    /// Runs all checks on the written rows.
    ///
    /// Checks with `server-wins` first revert groups, and all checks run again until nothing is reverted. Each round
    /// reverts at least one group, so the loop ends.
    ///
    /// - Throws: the refusal of an edit if a check still fails.
    func runChecks() throws(PushStop) {
        while try revertFailures() {}
        for rows in checks.rows {
            try refuseHidden(rows)
            for check in rows.section.checks {
                if let row = try checks.failing(check, among: rows).first {
                    throw .refused(row.last.index, check.problem(on: row.last))
                }
            }
        }
    }

    /// Reverts groups whose checks have `server-wins` and fail; returns true if all checks must run again.
    func revertFailures() throws(PushStop) -> Bool {
        var hasReverted = false
        for rows in checks.rows {
            for check in rows.section.checks where check.onFailure == .serverWins {
                for row in try checks.failing(check, among: rows) {
                    if try revert(row, in: rows, for: check) { hasReverted = true }
                }
            }
        }
        return hasReverted
    }

    /// Reverts the client's changes of a check's groups; returns false if there are none.
    private func revert(
        _ row: WrittenRows.Row, in rows: RuleChecks.Rows, for check: RowCheck
    ) throws(PushStop) -> Bool {
        let groups = Set(check.fields.compactMap { rows.section.group(ofField: $0) })
        guard let before = row.before else { return false }
        let traces = checks.takeTraces(of: row, rows.id, groups: groups)
        if traces.isEmpty { return false }
        let traced = Set(traces.map(\.group))
        if checks.isWrittenElsewhere(traced, of: row, in: rows) {
            throw .refused(row.last.index, check.problem(on: row.last))
        }
        // The restored values may collide with another row.
        let isWhole = !checks.isWritten(row, rows.id) && !checks.isWrittenElsewhere(row, in: rows)
        try revert(traced, of: row, to: before, isWhole: isWhole)
        for trace in traces { recordReverted(trace, by: check, to: rows.section.values(of: trace.group, in: before)) }
        return true
    }

    /// - Parameter isWhole: true if the push changes nothing else in the row, so that the stamps return too.
    private func revert(
        _ groups: Set<Int>, of row: WrittenRows.Row, to before: [Value], isWhole: Bool
    ) throws(PushStop) {
        let section = row.last.section
        var assignments: [Assignment] = []
        for group in groups.sorted() {
            for field in section.fields[section.groups[group].fields] {
                assignments.append(Assignment(column: field.column, value: before[field.column]))
            }
        }
        if isWhole {
            assignments += section.stamps.map { Assignment(column: $0.column, value: before[$0.column]) }
        }
        let current = try facts.rows(
            of: section, where: row.address.map(\.column), are: row.address.map(\.value), &writer
        ).first
        try update(assignments, of: row.last, current: current ?? before)
        try writer.writePending()
    }

    private func recordReverted(_ trace: WrittenRows.Trace, by check: RowCheck, to values: [Value]) {
        var outcome = progress.reports[trace.report].outcomes[trace.outcome]
        outcome.kind = .serverWon
        outcome.isConflict = true
        outcome.rule = check.rule
        outcome.parts = []
        outcome.sides = outcome.sides?.writing(.group(values))
        progress.reports[trace.report].outcomes[trace.outcome] = outcome
    }

    private func refuseHidden(_ rows: RuleChecks.Rows) throws(PushStop) {
        let section = rows.section
        guard let visibility = section.visibility,
            let row = try checks.hidden(among: rows)
        else { return }
        let fields = section.fields.filter { SQLWords.mention(section.columns[$0.column].name, in: visibility.value) }
        throw .refused(
            row.last.index,
            Problem(
                .outsideWhere,
                detail:
                    "The rules hide some rows of this table from clients, and the merged row would be hidden.",
                path: row.last.edit.path, retry: .never, fields: fields.map(\.name)))
    }
}
