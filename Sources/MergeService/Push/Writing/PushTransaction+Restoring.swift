import MergeCore
import RecordStore

/// Rows of other tables that an undo restores.
extension PushTransaction {
    /// Restores rows that the database changed along with a write that this undo reverses.
    func restoreCascades(_ step: PushPlan.Step) throws(PushStop) {
        let outcomes = progress.reports[step.index].outcomes
        let cascades = step.edit.reversals.filter { $0.isDone(by: outcomes) }.flatMap(\.returning)
        if cascades.isEmpty { return }
        try writer.flush()
        try others.note(cascades, by: step.index, facts.before)
        try facts.before.recordRestored(cascades, &writer)
        for cascade in insertionOrder(cascades) {
            for row in cascade.rows {
                guard let statement = restoration(of: row, in: cascade) else { continue }
                do throws(StoreError) {
                    try writer.restoreRow(by: statement)
                } catch {
                    guard case .constraint(let violation) = error.kind else { throw .store(error) }
                    throw .refused(step.index, Self.refusal(of: cascade.table, violation, step: step))
                }
            }
        }
    }

    /// Returns the statement that restores a row; nil if nothing is restored.
    private func restoration(of row: [Value], in cascade: Cascade) -> Statement? {
        let sql = RawSQL(run.dialect)
        let values = zip(cascade.columns, row).map { RawValue(column: $0, value: $1) }
        switch cascade.effect {
        case .delete:
            return sql.insert(
                into: cascade.table, values.map(\.column.name), values.map { Bind($0.value, $0.column.type) })
        case .setNull:
            // A value that another program has set since then stays.
            return sql.update(
                cascade.table, cascade.links.map { values[$0] }, where: Array(values.prefix(cascade.nameCount)),
                isNull: cascade.links.map { cascade.columns[$0] })
        case .update: return nil
        }
    }

    private static func refusal(
        of table: TableName, _ violation: ConstraintViolation, step: PushPlan.Step
    ) -> Problem {
        let needed = violation.kind == .notNull ? violation.columns.map { "“\($0)”" }.joined(separator: " and ") : ""
        return Problem(
            violation.kind.problem, about: .restoration,
            detail: "The database refuses a row of table “\(table)” that was deleted along with the record"
                + (needed.isEmpty ? "." : ": it needs a value in the column \(needed), of which none is kept."),
            path: step.edit.path, retry: .never, constraint: violation.name)
    }

    /// Orders rows for their restoration: a deleted row before the rows that refer to it, columns set to NULL last.
    private func insertionOrder(_ cascades: [Cascade]) -> [Cascade] {
        var rest = cascades.filter { $0.effect == .delete }
        var ordered: [Cascade] = []
        while !rest.isEmpty {
            let waiting = Set(rest.map(\.table))
            let next = rest.firstIndex { cascade in
                let targets = run.active.schema.tables[cascade.table]?.foreignKeys.map(\.target) ?? []
                return !targets.contains { $0 != cascade.table && waiting.contains($0) }
            }
            ordered.append(rest.remove(at: next ?? 0))
        }
        return ordered + cascades.filter { $0.effect != .delete }
    }
}
