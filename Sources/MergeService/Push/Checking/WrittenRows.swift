import MergeCore

/// The written rows of sections with checks, with the effects of each edit.
struct WrittenRows {
    struct Trace {
        let report: Int
        /// The position of the outcome in the report.
        let outcome: Int
        let group: Int
    }

    struct Row {
        var address: [Assignment]
        /// The row before the push; nil if the push inserted it.
        let before: [Value]?
        var last: EditedRow
        var traces: [Trace] = []
    }

    private(set) var rows: [SectionID: [[Assignment]: Row]] = [:]

    mutating func note(_ row: Row, _ id: SectionID) {
        if var known = rows[id]?[row.address] {
            known.last = row.last
            known.traces += row.traces
            rows[id]?[row.address] = known
        } else {
            rows[id, default: [:]][row.address] = row
        }
    }

    /// Adds the decisions of an edit that found its values already written by an earlier edit.
    mutating func trace(_ traces: [Trace], of address: [Assignment], _ id: SectionID) {
        rows[id]?[address]?.traces += traces
    }

    /// Replaces the addresses of rows.
    ///
    /// - Parameter address: returns the new address of a row; nil if its address is unchanged.
    mutating func rename(_ address: (Row) -> [Assignment]?) {
        for (id, known) in rows {
            for (old, row) in known {
                guard let new = address(row) else { continue }
                rows[id]?[old] = nil
                var renamed = row
                renamed.address = new
                rows[id]?[new] = renamed
            }
        }
    }

    mutating func remove(_ address: [Assignment], _ id: SectionID) { rows[id]?[address] = nil }

    mutating func remove(where isRemoved: (Row) -> Bool) {
        rows = rows.mapValues { $0.filter { !isRemoved($0.value) } }.filter { !$0.value.isEmpty }
    }

    mutating func takeTraces(of address: [Assignment], _ id: SectionID, groups: Set<Int>) -> [Trace] {
        let traces = rows[id]?[address]?.traces ?? []
        rows[id]?[address]?.traces.removeAll { groups.contains($0.group) }
        return traces.filter { groups.contains($0.group) }
    }
}
