/// Aligns cells in columns, and leaves out empty columns.
struct TextTable {
    private let titles: [String]
    private let rows: [[String]]
    private let widths: [Int]

    static let gap = "  "

    init(titles: [String], rows: [[String]]) {
        self.titles = titles
        self.rows = rows
        widths = titles.enumerated().map { column, title in
            let widest = rows.map { $0[column].count }.max() ?? 0
            return widest == 0 ? 0 : max(widest, title.count)
        }
    }

    var head: String { line(titles) }

    /// Parallel to the rows.
    var lines: [String] { rows.map(line) }

    private func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths).filter { $1 > 0 }.map { cell, width in
            cell + String(repeating: " ", count: width - cell.count)
        }
        var line = padded.joined(separator: Self.gap)
        while line.last == " " { line.removeLast() }
        return line
    }
}
