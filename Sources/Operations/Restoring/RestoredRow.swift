import MergeCore

/// Finds the steps of a newer journal that a restored row lacks.
///
/// A backup contains a row of one moment, so the missing steps are the last ones.
enum RestoredRow {
    enum State: Sendable, Hashable {
        /// The row contains the step, or a later one that replaced it.
        case present
        /// The row is as it was before the step.
        case missing
        /// The row fits no step, because another program changed it, or the journal does not contain the values.
        ///
        /// Or it fits before a deletion and after the next insertion, and the rows that the deletion removed may be left.
        case unclear
    }

    /// A row as the restored data have it.
    enum Current: Sendable {
        /// The fields of a row that clients see.
        case shown([Int: Value])
        /// Clients see no row: it was deleted, or never inserted.
        case gone
        /// The data have no row, and a deletion would have left it.
        case neverInserted
    }

    /// Returns the state of each step.
    ///
    /// - Parameter steps: all steps of one row in order that only the newer journal contains.
    static func states(of steps: [RowEffect], current: Current) -> [State] {
        let fitting = (0...steps.count).filter { isRow(current, after: $0, of: steps) }
        guard let first = fitting.first, let done = fitting.last else { return steps.map { _ in .unclear } }
        var uncertain = 0..<0
        if case .shown = current, steps[first..<done].contains(where: { $0.after == nil }) { uncertain = first..<done }
        return steps.enumerated().map { index, step in
            step.isPartial || uncertain.contains(index) ? .unclear : index < done ? .present : .missing
        }
    }

    /// Returns true if a row is as it was after some steps, judged by the values in the steps.
    private static func isRow(_ current: Current, after count: Int, of steps: [RowEffect]) -> Bool {
        let (past, future) = (steps.prefix(count), steps.dropFirst(count))
        let existed =
            past.last { $0.isExistence }.map { $0.after != nil }
            ?? future.first { $0.isExistence }.map { $0.before != nil }
        let row: [Int: Value]
        switch current {
        case .shown(let fields): row = fields
        case .gone: return existed == false
        case .neverInserted: return existed == false && !past.contains { $0.isExistence }
        }
        guard existed ?? true else { return false }
        let fields = Set(steps.flatMap { Array(($0.after ?? $0.before ?? [:]).keys) })
        return fields.allSatisfy { field in
            let last = past.last { $0.isExistence || $0.after?[field] != nil }
            let next = future.first { $0.isExistence || $0.before?[field] != nil }
            // A step without the value fits every row.
            guard case .plain(let value)? = last.map({ $0.after?[field] }) ?? next.map({ $0.before?[field] }) ?? nil
            else { return true }
            return row[field] == value
        }
    }
}

extension RowEffect {
    /// True for the insertion and the deletion of a row.
    fileprivate var isExistence: Bool { before == nil || after == nil }

    /// True if the entry lacks values, because some are private.
    fileprivate var isPartial: Bool {
        [before, after].contains { side in
            side?.values.contains { if case .digest = $0 { true } else { false } } ?? false
        }
    }
}
