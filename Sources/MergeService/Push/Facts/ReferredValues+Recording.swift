import MergeCore
import RecordStore

/// The recording of values before a write changes them.
extension ReferredValues {
    /// Records the values that references to a row, and references of the row, lead to before a write.
    ///
    /// - Parameter assignments: the columns that are written; nil if any column may change.
    mutating func recordWrite(
        to row: PartialRow, setting assignments: [Assignment]?, _ run: RunEnvironment, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        let views = run.active.views
        guard views.hasConditionSteps else { return }
        let written = assignments.map { assignments in
            Dictionary(assignments.map { (row.columns[$0.column].name.lowercased(), row.setting($0)) }) { $1 }
        }
        for step in views.conditionSteps(from: row.table) where written?[step.own.name.lowercased()] != nil {
            try recordTarget(of: step, in: row, run, to: &writer)
        }
        for step in views.conditionSteps(to: row.table) {
            let key = written?[step.key.name.lowercased()]
            if written != nil, key == nil, written?[step.column.name.lowercased()] == nil { continue }
            for values in try Self.values(of: [step.key, step.column], in: row, run, &writer) {
                record(values[1], of: step, at: RawValue(column: step.key, value: values[0]))
            }
            // No other row has the new key.
            if let key { record(.null, of: step, at: key) }
        }
    }

    /// Records that references to a new row led to no row.
    mutating func recordInsertion(
        of row: PartialRow, _ run: RunEnvironment, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        guard run.active.views.hasConditionSteps else { return }
        for step in run.active.views.conditionSteps(to: row.table) {
            for key in try Self.values(of: [step.key], in: row, run, &writer) {
                record(.null, of: step, at: RawValue(column: step.key, value: key[0]))
            }
        }
    }

    /// Records the value that a reference of a row leads to.
    private mutating func recordTarget(
        of step: ReferenceStep, in row: PartialRow, _ run: RunEnvironment, to writer: inout ChangeWriter
    ) throws(PushStop) {
        guard
            let own = row.columns.firstIndex(where: {
                $0.lookup == nil && $0.name.lowercased() == step.own.name.lowercased()
            })
        else { return }
        let key = RawValue(
            column: step.key, value: step.key.converted(row.values[own], from: row.columns[own]))
        if value(of: step, at: key) != nil { return }
        if let position = row.columns.firstIndex(where: { $0.lookup == step }) {
            return record(row.values[position], of: step, at: key)
        }
        try writer.flushUnlessShared()
        let rows = try run.query(
            RawSQL(run.dialect).share(
                [step.key, step.column], of: step.table, where: [key]))
        // The database may equate other keys.
        record(rows.first { $0[0] == key.value }?[1] ?? .null, of: step, at: key)
    }

    /// Returns the values of some columns of a row; reads them if they are missing.
    ///
    /// If the address does not identify the row, the result contains several rows.
    private static func values(
        of columns: [Column], in row: PartialRow, _ run: RunEnvironment, _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        if let known = row.values(of: columns) { return [known] }
        if row.address.isEmpty { return [] }
        try writer.flushUnlessShared()
        let address = row.address.map { RawValue(column: row.columns[$0], value: row.values[$0]) }
        return try run.query(RawSQL(run.dialect).share(columns, of: row.table, where: address))
    }
}
