import MergeCore

/// The rows that a push wrote in sections with checks, and what each edit did to them.
struct WrittenRows {
    /// One group of a row that an edit changed.
    struct Trace {
        let report: Int
        /// Position among the report's outcomes.
        let outcome: Int
        let group: Int
    }

    struct Row {
        let address: [Assignment]
        /// The row before the push; nil where the push inserted it.
        let before: [Value]?
        /// The row of the edit that wrote it last.
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

    /// Notes what an edit decided of a row that an earlier one wrote, where it had nothing to write itself.
    mutating func trace(_ traces: [Trace], of address: [Assignment], _ id: SectionID) {
        rows[id]?[address]?.traces += traces
    }

    mutating func remove(_ address: [Assignment], _ id: SectionID) { rows[id]?[address] = nil }

    /// Forgets the rows of some edits.
    mutating func drop(_ isDropped: (PushPlan.Step) -> Bool) {
        rows = rows.mapValues { $0.filter { !isDropped($0.value.last.step) } }.filter { !$0.value.isEmpty }
    }

    /// Takes the traces of some groups from a row, because they are taken back.
    mutating func takeTraces(of address: [Assignment], _ id: SectionID, groups: Set<Int>) -> [Trace] {
        let traces = rows[id]?[address]?.traces ?? []
        rows[id]?[address]?.traces.removeAll { groups.contains($0.group) }
        return traces.filter { groups.contains($0.group) }
    }
}
