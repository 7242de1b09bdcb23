import MergeCore
import RecordStore

/// Rows that go, as the journal has to know them, and rows that come back with an undo.
extension PushTransaction {
    /// A row with all its columns, which the rules need not know.
    func wholeRow(_ row: [Value], _ section: Section) throws -> RawRow? {
        guard let table = active.schema.tables[section.table] else { return nil }
        let columns = table.restorableColumns
        let key = address(of: row, in: section).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        let rows = try session.query(RawSQL(dialect).select(columns, from: section.table, where: key, locking: true))
        return rows.first.map { found in
            RawRow(values: zip(columns, found).map { RawValue(column: $0, value: $1) })
        }
    }

    /// Puts rows back that the database itself took along.
    func bringBack(_ step: PushPlan.Step) throws {
        let sql = RawSQL(dialect)
        try flush()
        changes.noteEverything()
        try noteShown(step.edit.returning, report: step.index)
        // The tables nearest to the record first, since the others refer to them.
        for cascade in step.edit.returning {
            for row in cascade.rows {
                let values = zip(cascade.columns, row).map { RawValue(column: $0, value: $1) }
                let statement: Statement
                switch cascade.effect {
                case .delete:
                    statement = sql.insert(
                        into: cascade.table, values.map(\.column.name), values.map { Bind($0.value, $0.column.type) })
                case .setNull:
                    statement = sql.update(
                        cascade.table, cascade.links.map { values[$0] }, where: Array(values.prefix(cascade.nameCount)))
                }
                do {
                    _ = try session.execute(statement)
                } catch {
                    guard case .constraint(let violation) = error.kind else { throw error }
                    throw Refusal(
                        problem: Problem(
                            violation.kind.problem, about: .restoration,
                            detail: "The database refuses a row of table “\(cascade.table)” that went with the record.",
                            path: step.edit.path, retry: .never, constraint: violation.name))
                }
            }
        }
    }
}
