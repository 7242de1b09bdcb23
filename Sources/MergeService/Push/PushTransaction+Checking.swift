import MergeCore
import RecordStore

/// A condition of the rules that a merged row violates.
struct CheckFailure: Error {
    /// The edit that wrote the row last.
    let report: Int
    let problem: Problem
}

extension PushTransaction {
    /// Records a written row for the checks.
    ///
    /// - Parameters:
    ///   - values: the row's values, which contain its address.
    ///   - before: the row before the edit; nil for an insertion.
    ///   - first: the position of the row's first outcome.
    func noteWritten(_ row: EditedRow, values: [Value], before: [Value]?, outcomes first: Int) {
        guard row.section.isChecked, !values.isEmpty else { return }
        let address = address(of: values, in: row.section)
        // A row that was inserted through another resource did not exist before the push either. An independent edit is
        // checked against the values before this edit.
        let isNew = plan.push.atomicity != .edit && isNew(RecordKey(address.map(\.value)), in: row.section)
        var note = WrittenRows.Row(address: address, before: isNew ? nil : before, last: row)
        if note.before != nil { note.traces = traces(of: row, outcomes: first) }
        written.note(note, row.id)
    }

    /// Records a row that already contained the values of an edit.
    ///
    /// If an earlier edit of the push wrote them, a check may revert them for both edits.
    func noteMet(_ row: EditedRow, values: [Value], outcomes first: Int) {
        guard row.section.isChecked, !values.isEmpty else { return }
        written.trace(traces(of: row, outcomes: first), of: address(of: values, in: row.section), row.id)
    }

    private func traces(of row: EditedRow, outcomes first: Int) -> [WrittenRows.Trace] {
        let outcomes = reports[row.index].outcomes
        return outcomes.indices.dropFirst(first).compactMap { index in
            guard let group = outcomes[index].group, outcomes[index].kind.writes else { return nil }
            return WrittenRows.Trace(report: row.index, outcome: index, group: group)
        }
    }

    func noteInserted(_ row: EditedRow, key: RecordKey, root: [Value]) {
        let section = row.section
        guard section.isChecked else { return }
        let address =
            section.keyCount > 0
            ? key.parts.enumerated().map { Assignment(column: $0, value: $1) }
            : section.parent.map { Assignment(column: $0.column, value: root[$0.rootColumn]) }
        written.note(WrittenRows.Row(address: address, before: nil, last: row), row.id)
    }

    /// Runs all checks on the written rows.
    ///
    /// Checks with `server-wins` first revert groups, and all checks run again until nothing is reverted. Each round
    /// reverts at least one group, so the loop ends.
    ///
    /// - Throws: `CheckFailure` if a check still fails.
    func runChecks() throws {
        while try takeBackFailures() {}
        for rows in checkedRows() {
            try refuseHidden(rows)
            for check in rows.section.checks {
                if let row = try rows.failing(check, self).first {
                    throw CheckFailure(report: row.last.index, problem: check.problem(on: row.last))
                }
            }
        }
    }

    private struct CheckedRows {
        let id: SectionID
        let section: Section
        let rows: [WrittenRows.Row]

        func failing(_ check: RowCheck, _ transaction: PushTransaction) throws -> [WrittenRows.Row] {
            let sql = SectionSQL.of(section, transaction.dialect)
            return try transaction.matching(rows) { sql.failing(check, where: $0, in: $1) }
        }
    }

    private func checkedRows() -> [CheckedRows] {
        written.rows.sorted { ($0.key.resource, $0.key.section) < ($1.key.resource, $1.key.section) }
            .compactMap { id, rows in
                guard let first = rows.values.first else { return nil }
                let sorted = rows.values.sorted { a, b in
                    RecordKey(a.address.map(\.value)).precedes(RecordKey(b.address.map(\.value)))
                }
                return CheckedRows(id: id, section: first.last.resource.sections[id.section], rows: sorted)
            }
    }

    /// Reverts groups whose checks have `server-wins` and fail; returns true if all checks must run again.
    func takeBackFailures() throws -> Bool {
        var tookBack = false
        for rows in checkedRows() {
            for check in rows.section.checks where check.onFailure == .serverWins {
                for row in try rows.failing(check, self) {
                    if try takeBack(row, in: rows, for: check) { tookBack = true }
                }
            }
        }
        return tookBack
    }

    /// Reverts the client's changes of a check's groups; returns false if there are none.
    private func takeBack(_ row: WrittenRows.Row, in rows: CheckedRows, for check: RowCheck) throws -> Bool {
        let groups = Set(check.fields.compactMap { rows.section.group(ofField: $0) })
        guard let before = row.before else { return false }
        let traces = written.takeTraces(of: row.address, rows.id, groups: groups)
        if traces.isEmpty { return false }
        let traced = Set(traces.map(\.group))
        // Another resource of the same push wrote these columns, and its outcomes already report them as written.
        if isWrittenElsewhere(traced, of: row, in: rows) {
            throw CheckFailure(report: row.last.index, problem: check.problem(on: row.last))
        }
        // The restored values may collide with another row.
        try refusing(row.last.index) { try takeBack(traced, of: row, to: before) }
        for trace in traces { noteTakenBack(trace, by: check, to: rows.section.values(of: trace.group, in: before)) }
        return true
    }

    private func isWrittenElsewhere(_ groups: Set<Int>, of row: WrittenRows.Row, in rows: CheckedRows) -> Bool {
        let section = rows.section
        let reference = active.footprints[section].reference(to: RecordKey(row.address.map(\.value)))
        guard let writes = sharedWrites[reference] else { return false }
        let columns = groups.flatMap { section.groups[$0].fields }.map { field in
            section.columns[section.fields[field].column].name.lowercased()
        }
        return writes.contains { other, written in other != rows.id && !written.isDisjoint(with: columns) }
    }

    private func takeBack(_ groups: Set<Int>, of row: WrittenRows.Row, to before: [Value]) throws {
        let section = row.last.section
        var assignments: [Assignment] = []
        for group in groups.sorted() {
            for field in section.fields[section.groups[group].fields] {
                assignments.append(Assignment(column: field.column, value: before[field.column]))
            }
        }
        let standing = try reader.rows(
            of: section, where: row.address.map(\.column), in: [row.address.map(\.value)], locking: true,
            includesHidden: true
        ).first
        try update(assignments, of: row.last, current: standing ?? before)
        try writePending()
    }

    private func noteTakenBack(_ trace: WrittenRows.Trace, by check: RowCheck, to values: [Value]) {
        reports[trace.report].outcomes[trace.outcome].kind = .serverWon
        reports[trace.report].outcomes[trace.outcome].isConflict = true
        reports[trace.report].outcomes[trace.outcome].rule = check.rule
        reports[trace.report].outcomes[trace.outcome].parts = []
        reports[trace.report].outcomes[trace.outcome].sides = reports[trace.report].outcomes[trace.outcome].sides?
            .writing(.group(values))
    }

    private func refuseHidden(_ checked: CheckedRows) throws {
        let section = checked.section
        guard let visibility = section.visibility else { return }
        let sql = SectionSQL.of(section, dialect)
        guard let row = try matching(checked.rows, { sql.hidden(where: $0, in: $1) }).first else { return }
        let fields = section.fields.filter { SQLWords.mention(section.columns[$0.column].name, in: visibility.value) }
        throw CheckFailure(
            report: row.last.index,
            problem: Problem(
                .outsideWhere,
                detail:
                    "The rules show clients only some rows of this table, and the row as merged would be none of them.",
                path: row.last.edit.path, retry: .never, fields: fields.map(\.name)))
    }

    fileprivate func matching(
        _ rows: [WrittenRows.Row], _ statement: ([Int], [[Value]]) -> Statement?
    ) throws -> [WrittenRows.Row] {
        guard let columns = rows.first?.address.map(\.column) else { return [] }
        var found: [WrittenRows.Row] = []
        var start = 0
        while start < rows.count {
            let batch = rows[start..<min(start + SectionSQL.maximumBatch, rows.count)]
            start += SectionSQL.maximumBatch
            guard let statement = statement(columns, batch.map { $0.address.map(\.value) }) else { return [] }
            let hits = Set(try session.query(statement))
            found += batch.filter { hits.contains($0.address.map(\.value)) }
        }
        return found
    }
}

extension RowCheck {
    fileprivate func problem(on row: EditedRow) -> Problem {
        Problem(
            .check, about: .rule, detail: "The check “\(name)” fails on the row as merged.", path: row.edit.path,
            retry: .never, constraint: name, fields: fields.map { row.section.fields[$0].name })
    }
}

extension Section {
    var isChecked: Bool { !checks.isEmpty || visibility != nil }
}

extension OutcomeKind {
    var writes: Bool { self == .applied || self == .clientWon || self == .combined }

    /// True if the outcome changed a row or a group.
    package var hasEffect: Bool {
        switch self {
        case .applied, .clientWon, .combined, .inserted, .deleted, .restored: true
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: false
        }
    }
}
