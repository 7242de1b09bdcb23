import MergeCore
import RecordStore

/// A condition of the rules that a row does not meet after the merge.
struct CheckFailure: Error {
    /// Position of the edit that wrote the row last.
    let report: Int
    let problem: Problem
}

/// The rules' own conditions on the rows as merged.
extension PushRun {
    func noteWritten(
        _ edit: RowEdit, _ step: PushPlan.Step, _ section: Section, row: [Value], before: [Value]?, outcomes first: Int
    ) {
        guard section.isChecked, !row.isEmpty else { return }
        var note = WrittenRows.Row(address: address(of: row, in: section), before: before, edit: edit, step: step)
        if before != nil {
            let outcomes = reports[step.index].outcomes
            for index in outcomes.indices.dropFirst(first) {
                guard let group = outcomes[index].group, outcomes[index].kind.writes else { continue }
                note.traces.append(WrittenRows.Trace(report: step.index, outcome: index, group: group))
            }
        }
        written.note(note, SectionID(resource: step.edit.resource.name, section: edit.section))
    }

    /// - Parameter root: the row of the record that the new row belongs to.
    func noteInserted(_ edit: RowEdit, _ step: PushPlan.Step, _ section: Section, key: RecordKey, root: [Value]) {
        guard section.isChecked else { return }
        let address =
            section.keyCount > 0
            ? key.parts.enumerated().map { Assignment(column: $0, value: $1) }
            : section.parent.map { Assignment(column: $0.column, value: root[$0.rootColumn]) }
        written.note(
            WrittenRows.Row(address: address, before: nil, edit: edit, step: step),
            SectionID(resource: step.edit.resource.name, section: edit.section))
    }

    /// Runs every check on the rows written.
    ///
    /// Checks that let the database win take the client's changes of their groups back first, and all run again, until
    /// nothing more is taken back; each round takes at least one group back, so it ends.
    /// - Throws: `CheckFailure` where a check fails all the same.
    func runChecks() throws {
        while try takeBackFailures() {}
        for (id, section, rows) in checkedRows() {
            try refuseHidden(id, section, rows)
            for check in section.checks {
                for row in try failing(check, section, rows) {
                    throw CheckFailure(report: row.step.index, problem: problem(check, section, row.edit))
                }
            }
        }
    }

    private func checkedRows() -> [(SectionID, Section, [WrittenRows.Row])] {
        written.rows.sorted { ($0.key.resource, $0.key.section) < ($1.key.resource, $1.key.section) }
            .compactMap { id, rows in
                guard let first = rows.values.first else { return nil }
                let sorted = rows.values.sorted { a, b in
                    RecordKey(a.address.map(\.value)).precedes(RecordKey(b.address.map(\.value)))
                }
                return (id, first.step.edit.resource.sections[id.section], sorted)
            }
    }

    /// Takes back what checks leave to the database.
    ///
    /// - Returns: true where something was taken back, so that every check has to run again.
    func takeBackFailures() throws -> Bool {
        var tookBack = false
        for (id, section, rows) in checkedRows() {
            for check in section.checks where check.onFailure == .serverWins {
                let groups = Set(check.fields.compactMap { section.group(ofField: $0) })
                for row in try failing(check, section, rows) {
                    guard let before = row.before else { continue }
                    let traces = written.takeTraces(of: row.address, id, groups: groups)
                    if traces.isEmpty { continue }
                    // What another resource wrote there in the same push was promised to it.
                    if isWrittenElsewhere(Set(traces.map(\.group)), of: row, section, id) {
                        throw CheckFailure(report: row.step.index, problem: problem(check, section, row.edit))
                    }
                    // What is put back may collide by now.
                    try refusing(row.step.index) { try takeBack(Set(traces.map(\.group)), of: row, before, section) }
                    for trace in traces { settle(trace, check, before, section) }
                    tookBack = true
                }
            }
        }
        return tookBack
    }

    private func isWrittenElsewhere(
        _ groups: Set<Int>, of row: WrittenRows.Row, _ section: Section, _ id: SectionID
    ) -> Bool {
        let reference = served.footprints[section].reference(to: RecordKey(row.address.map(\.value)))
        guard let writes = sharedWrites[reference] else { return false }
        let columns = groups.flatMap { section.groups[$0].fields }.map { field in
            section.columns[section.fields[field].column].name.lowercased()
        }
        return writes.contains { other, written in other != id && !written.isDisjoint(with: columns) }
    }

    private func takeBack(
        _ groups: Set<Int>, of row: WrittenRows.Row, _ before: [Value], _ section: Section
    ) throws {
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
        try update(assignments, section, standing ?? before, row.edit, row.step)
        try writePending()
    }

    /// The client's change of this group is not written after all.
    private func settle(_ trace: WrittenRows.Trace, _ check: RowCheck, _ before: [Value], _ section: Section) {
        reports[trace.report].outcomes[trace.outcome].kind = .serverWon
        reports[trace.report].outcomes[trace.outcome].isConflict = true
        reports[trace.report].outcomes[trace.outcome].rule = check.rule
        reports[trace.report].outcomes[trace.outcome].parts = []
        reports[trace.report].outcomes[trace.outcome].sides = reports[trace.report].outcomes[trace.outcome].sides?
            .writing(.group(section.values(of: trace.group, in: before)))
    }

    private func failing(
        _ check: RowCheck, _ section: Section, _ rows: [WrittenRows.Row]
    ) throws -> [WrittenRows.Row] {
        let sql = SectionSQL.of(section, dialect)
        return try matching(rows) { sql.failing(check, where: $0, in: $1) }
    }

    private func refuseHidden(_ id: SectionID, _ section: Section, _ rows: [WrittenRows.Row]) throws {
        guard let visibility = section.visibility else { return }
        let sql = SectionSQL.of(section, dialect)
        guard let row = try matching(rows, { sql.hidden(where: $0, in: $1) }).first else { return }
        let fields = section.fields.filter { SQLWords.mention(section.columns[$0.column].name, in: visibility.value) }
        throw CheckFailure(
            report: row.step.index,
            problem: Problem(
                .outsideWhere,
                detail:
                    "The rules show clients only some rows of this table, and the row as merged would be none of them.",
                path: row.edit.path, retry: false, fields: fields.map(\.name)))
    }

    /// The rows that a statement finds, in batches.
    private func matching(
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

    private func problem(_ check: RowCheck, _ section: Section, _ edit: RowEdit) -> Problem {
        Problem(
            .check, about: .rule, detail: "The check “\(check.name)” fails on the row as merged.", path: edit.path,
            retry: false,
            constraint: check.name, fields: check.fields.map { section.fields[$0].name })
    }
}

extension Section {
    /// True where a row has to be looked at again after the writes.
    var isChecked: Bool { !checks.isEmpty || visibility != nil }
}

extension OutcomeKind {
    /// The group was written.
    var writes: Bool { self == .applied || self == .clientWon || self == .combined }

    /// A row or a group is another than before.
    var hasEffect: Bool {
        switch self {
        case .applied, .clientWon, .combined, .inserted, .deleted, .restored: true
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: false
        }
    }
}
