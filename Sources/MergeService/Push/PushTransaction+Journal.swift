import MergeCore
import RecordStore

/// Rows that the journal records before their deletion, and rows that an undo restores.
extension PushTransaction {
    /// Reads all columns of a row that the journal keeps.
    func wholeRow(_ row: [Value], _ section: Section) throws -> RawRow? {
        let columns = active.keptColumns[section.table]
        if columns.isEmpty { return nil }
        if section.keyCount == 0 {
            let kept = Set(columns.map(\.name))
            return RawRow(
                values: zip(section.columns, row).filter { kept.contains($0.0.name) }.map {
                    RawValue(column: $0, value: $1)
                })
        }
        let key = address(of: row, in: section).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        let rows = try session.query(RawSQL(dialect).select(columns, from: section.table, where: key, locking: true))
        return rows.first.map { found in
            RawRow(values: zip(columns, found).map { RawValue(column: $0, value: $1) })
        }
    }

    /// Restores rows that the database changed along with a write that this undo reverses.
    func restoreCascades(_ step: PushPlan.Step) throws {
        let outcomes = reports[step.index].outcomes
        let cascades = step.edit.reversals.filter { $0.isDone(by: outcomes) }.flatMap(\.returning)
        if cascades.isEmpty { return }
        let sql = RawSQL(dialect)
        try flush()
        changes.noteEverything()
        try noteShown(cascades, report: step.index)
        for cascade in insertionOrder(cascades) {
            for row in cascade.rows {
                let values = zip(cascade.columns, row).map { RawValue(column: $0, value: $1) }
                let statement: Statement
                switch cascade.effect {
                case .delete:
                    statement = sql.insert(
                        into: cascade.table, values.map(\.column.name), values.map { Bind($0.value, $0.column.type) })
                case .setNull:
                    // A value that another program has set since then stays.
                    statement = sql.update(
                        cascade.table, cascade.links.map { values[$0] }, where: Array(values.prefix(cascade.nameCount)),
                        isNull: cascade.links.map { cascade.columns[$0] })
                case .update: continue
                }
                do {
                    _ = try session.execute(statement)
                } catch {
                    guard case .constraint(let violation) = error.kind else { throw error }
                    throw Refusal(problem: Self.refusal(of: cascade.table, violation, step))
                }
            }
        }
    }

    private static func refusal(
        of table: TableName, _ violation: ConstraintViolation, _ step: PushPlan.Step
    ) -> Problem {
        let needed = violation.kind == .notNull ? violation.columns.map { "“\($0)”" }.joined(separator: " and ") : ""
        return Problem(
            violation.kind.problem, about: .restoration,
            detail: "The database refuses a row of table “\(table)” that was deleted along with the record"
                + (needed.isEmpty ? "." : ": it needs a value in the column \(needed), of which none is kept."),
            path: step.edit.path, retry: .never, constraint: violation.name)
    }

    /// Orders rows for their restoration: deleted rows before those that refer to them, columns set to NULL last.
    private func insertionOrder(_ cascades: [Cascade]) -> [Cascade] {
        var rest = cascades.filter { $0.effect == .delete }
        var ordered: [Cascade] = []
        while !rest.isEmpty {
            let waiting = Set(rest.map(\.table))
            let next = rest.firstIndex { cascade in
                let targets = active.schema.tables[cascade.table]?.foreignKeys.map(\.target) ?? []
                return !targets.contains { $0 != cascade.table && waiting.contains($0) }
            }
            ordered.append(rest.remove(at: next ?? 0))
        }
        return ordered + cascades.filter { $0.effect != .delete }
    }
}
