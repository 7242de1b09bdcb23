import MergeCore
import MergeWire

/// A rehearsal as text for a terminal: the counts, and examples with the reasons of both decisions.
struct RehearsalText {
    private let report: RehearsalReport

    private static let width = 118
    private static let widestName = 32
    private static let narrowestValue = 8

    init(_ report: RehearsalReport) {
        self.report = report
    }

    var text: String {
        let unjudged = report.outcomes - report.same - report.different
        var lines = [
            "\(report.entries) entries, \(report.outcomes) outcomes: \(report.different) different, \(report.same) the same, "
                + "\(unjudged) not judged"
        ]
        if report.different > 0 { lines += [""] + differences }
        if unjudged > 0 { lines += [""] + obstacles }
        if !report.examples.isEmpty { lines += [""] + examples }
        return lines.joined(separator: "\n")
    }

    private var differences: [String] {
        let table = TextTable(
            titles: ["count", "resource", "group", "active rules", "new rules"],
            rows: report.ordered.map { change, count in
                [
                    String(count), Self.name(change.resource),
                    Self.name(change.section + (change.group.map { "." + $0 } ?? "")), Self.words(change.active),
                    Self.words(change.new),
                ]
            })
        return [table.head] + table.lines
    }

    private var obstacles: [String] {
        let table = TextTable(
            titles: ["count", "resource", "not judged because"],
            rows: report.orderedObstacles.map { obstacle, count in
                [String(count), Self.name(obstacle.resource), PlainText.visible(obstacle.reason.sentence)]
            })
        return [table.head] + table.lines
    }

    private var examples: [String] {
        let names = report.examples.map { example in
            [
                String(example.entry), Self.name(example.resource + "/" + example.record),
                Self.name(example.outcome.place),
            ]
        }
        let decisions = report.examples.map {
            [Self.words($0.difference.active.kinds), Self.words($0.difference.new.kinds)]
        }
        let others = TextTable(
            titles: ["entry", "record", "group", "active", "new"], rows: zip(names, decisions).map { $0 + $1 })
        let widest = ([others.head] + others.lines).map(\.count).max() ?? 0
        let side = max((Self.width - widest) / 3 - TextTable.gap.count, Self.narrowestValue)
        let table = TextTable(
            titles: ["entry", "record", "group", "base", "current", "edited", "active", "new"],
            rows: zip(report.examples, zip(names, decisions)).map { example, cells in
                cells.0 + ShortText.telling(Array(example.outcome.sides.prefix(3)), in: side) + cells.1
            })
        var lines = [table.head]
        for (line, example) in zip(table.lines, report.examples) {
            lines.append(line)
            for (title, decision) in [("active", example.difference.active), ("new", example.difference.new)] {
                let why = decision.explained.map(\.why).joined(separator: " ")
                lines += ShortText.wrapped("\(title): \(PlainText.visible(why))", in: Self.width, indent: "  ")
            }
        }
        return lines
    }

    private static func name(_ text: String) -> String {
        ShortText.beginning(of: PlainText.visible(text), in: widestName)
    }

    private static func words(_ kinds: [OutcomeKind]) -> String { kinds.map(\.rawValue).joined(separator: ", ") }
}
