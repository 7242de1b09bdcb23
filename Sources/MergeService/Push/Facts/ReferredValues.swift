import MergeCore

/// The values that access conditions read from referred rows before the push.
///
/// A value is recorded when a write of the push is about to change its row, or to change a reference to its row. So a
/// value that is not recorded is still in the database.
struct ReferredValues {
    private struct Cell: Hashable {
        let step: ReferenceStep
        let key: Value
    }

    private var values: [Cell: Value] = [:]

    var isEmpty: Bool { values.isEmpty }

    /// Returns the value that a reference led to before the push; nil if no write concerned its row.
    func value(of step: ReferenceStep, at key: RawValue) -> Value? {
        key.value.isNull ? .null : values[cell(step, key: key)]
    }

    /// Records the current value of a row's column, unless an earlier write did.
    ///
    /// - Parameter value: NULL if the row does not exist.
    mutating func record(_ value: Value, of step: ReferenceStep, at key: RawValue) {
        if key.value.isNull { return }
        let cell = cell(step, key: key)
        if values[cell] == nil { values[cell] = value }
    }

    /// Returns a row with the values that its references led to before the push; nil if the push changed none.
    ///
    /// - Parameter row: the row of a section, with its own columns as before the push.
    func original(of row: [Value], in columns: [Column]) -> [Value]? {
        var before = row
        for (position, column) in columns.enumerated() {
            guard let step = column.lookup,
                let own = columns.firstIndex(where: { $0.lookup == nil && $0.name == step.own.name }),
                let value = value(of: step, at: RawValue(column: columns[own], value: row[own]))
            else { continue }
            before[position] = value
        }
        return before == row ? nil : before
    }

    private func cell(_ step: ReferenceStep, key: RawValue) -> Cell {
        Cell(step: step, key: key.value(in: step.key))
    }
}
