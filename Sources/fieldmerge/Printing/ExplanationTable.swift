import MergeCore
import MergeWire

/// An explanation as a table for a terminal: a row for each group, with the reason below.
struct ExplanationTable {
    private let explanation: Explanation
    private let rows: [Row]

    private static let width = 120
    private static let widestName = 20
    private static let narrowestValue = 8

    /// The cells of one row: section, id and group, then the three sides, the decision and the result.
    private struct Row {
        let names: [String]
        let decision: String
        let sides: [String]
        let why: String

        init(_ explained: ExplainedOutcome, _ resource: Resource) {
            let cells = ExplanationEncoder.cells(explained, resource)
            names = [cells.section, cells.id, cells.group].map { ShortText.beginning(of: $0, in: widestName) }
            decision = explained.outcome.kind.rawValue
            sides = [cells.base, cells.current, cells.edited, cells.result]
            why = explained.why
        }

        func cells(_ width: Int) -> [String] {
            let sides = ShortText.telling(sides, in: width)
            return names + sides.dropLast() + [decision] + sides.suffix(1)
        }
    }

    init(_ explanation: Explanation) {
        self.explanation = explanation
        rows = explanation.outcomes.map { Row($0, explanation.resource) }
    }

    var text: String {
        let head = "\(explanation.resource.name): \(summary)"
        if rows.isEmpty { return head }
        let table = TextTable(
            titles: ["section", "id", "group", "base", "current", "edited", "decision", "result"],
            rows: rows.map { $0.cells(sideWidth) })
        var lines = [head, "", table.head]
        for (line, row) in zip(table.lines, rows) {
            lines.append(line)
            lines += ShortText.wrapped("why: " + row.why, in: Self.width, indent: "  ")
        }
        return lines.joined(separator: "\n")
    }

    private var summary: String {
        if explanation.status == .rejected { return "rejected, so nothing of the push is written" }
        if rows.isEmpty { return "merged; the edit touches nothing" }
        let conflicts = explanation.outcomes.count { $0.outcome.isConflict }
        return conflicts == 0 ? "merged" : "merged, with \(conflicts) conflict\(conflicts == 1 ? "" : "s")"
    }

    /// The width of each of the four values, after the names and the decision.
    private var sideWidth: Int {
        let others = TextTable(
            titles: ["section", "id", "group", "decision"], rows: rows.map { $0.names + [$0.decision] })
        let widest = ([others.head] + others.lines).map(\.count).max() ?? 0
        return max((Self.width - widest) / 4 - TextTable.gap.count, Self.narrowestValue)
    }
}
