import MergeCore
import Operations
import RecordStore

struct RestoreText {
    private let report: RestoreReport
    private let rollsForward: Bool

    init(_ report: RestoreReport, rollsForward: Bool) {
        self.report = report
        self.rollsForward = rollsForward
    }

    var text: String {
        var lines = [Self.line("restored journal", copy: report.restored)]
        if let newer = report.newer { lines.append(Self.line("newer journal", copy: newer)) }
        if let feed = report.feed {
            lines.append("A new feed begins: \(feed). Every client takes a snapshot.")
            if report.newer == nil {
                lines.append(
                    "Pushes that were first sent before now are refused as key-expired, unless their key is known.")
            } else {
                lines.append("Copied from the newer journal: \(report.copiedRows) rows.")
            }
        } else {
            lines.append("Preview: nothing was written.")
        }
        lines += pushes(
            report.missing, title: "Merged pushes that the data lack", none: "The data lack no merged push.")
        if rollsForward, report.feed != nil { lines.append("Merged again: \(report.mergedAgain).") }
        if !report.unclear.isEmpty {
            lines += pushes(
                report.unclear,
                title: "Pushes whose rows were changed otherwise, or contain private values; compare by hand",
                none: "")
        }
        if !report.counters.isEmpty {
            lines.append("Run these statements, so that no number is given to another record:")
            lines += report.counters.map { "  " + $0 }
        }
        return lines.joined(separator: "\n")
    }

    private static func line(_ name: String, copy: RestoreReport.Copy) -> String {
        let newest = copy.summary.newest.map { $0.text(separator: "T", fraction: 0) + "Z" } ?? "none"
        return "\(name): \(copy.summary.rows) rows up to number \(copy.summary.last), newest \(newest), "
            + "\(copy.summary.keys) keys, revision \(copy.revision)"
    }

    private func pushes(_ pushes: [RestoreReport.Push], title: String, none: String) -> [String] {
        if pushes.isEmpty { return none.isEmpty || report.newer == nil ? [] : [none] }
        let table = TextTable(
            titles: ["number", "time", "who", "record", "groups", "problem"],
            rows: pushes.map { push in
                [
                    String(push.number), push.at.text(separator: "T", fraction: 0) + "Z", push.who, push.record,
                    push.groups.joined(separator: " "), push.problem ?? "",
                ]
            })
        return ["\(title):", table.head] + table.lines
    }
}
