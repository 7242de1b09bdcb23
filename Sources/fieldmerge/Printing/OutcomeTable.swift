import MergeWire

/// Outcomes as lines: the place, the outcome, and the four values, shortened to the width.
struct OutcomeTable {
    private let table: TextTable

    /// The highest length of a line, without indentation.
    static let width = 118
    private static let widestPlace = 32
    private static let narrowestValue = 8

    init(_ outcomes: [OutcomeText]) {
        let names = outcomes.map { [ShortText.beginning(of: $0.place, in: Self.widestPlace), $0.outcome] }
        let others = TextTable(titles: ["group", "outcome"], rows: names)
        let widest = ([others.head] + others.lines).map(\.count).max() ?? 0
        let side = max((Self.width - widest) / 4 - TextTable.gap.count, Self.narrowestValue)
        table = TextTable(
            titles: ["group", "outcome", "old", "overwritten", "new", "written"],
            rows: zip(names, outcomes).map { $0 + ShortText.telling($1.sides, in: side) })
    }

    var head: String { table.head }

    /// Parallel to the outcomes.
    var lines: [String] { table.lines }
}
