import MergeCore
import MergeWire
import RecordStore

/// Entries as CSV (RFC 4180), a line for each group.
struct JournalCSV {
    private let entries: [StoredEntry]
    private static let titles = [
        "number", "time", "who", "device", "key", "resource", "record", "status", "section", "item", "group",
        "outcome", "conflict", "rule", "old", "overwritten", "new", "written", "refused",
    ]

    init(_ entries: [StoredEntry]) {
        self.entries = entries
    }

    var text: String { ([Self.titles] + entries.flatMap(Self.rows)).map(Self.line).joined() }

    private static func rows(_ entry: StoredEntry) -> [[String]] {
        let cells = EntryCells(entry)
        let head = [
            cells.number, entry.at.text(separator: "T", fraction: 6) + "Z", entry.sender.who,
            entry.sender.device ?? "", entry.key ?? "", entry.entry?.resource ?? "", entry.entry?.record ?? "",
            entry.entry?.status ?? "",
        ]
        let tail = [entry.refused?.reason ?? ""]
        if cells.outcomes.isEmpty { return [head + Array(repeating: "", count: 10) + tail] }
        return cells.outcomes.map { outcome in
            head + [
                outcome.section, outcome.item ?? "", outcome.group ?? "", outcome.outcome,
                outcome.isConflict ? "true" : "false", outcome.rule, outcome.old ?? "", outcome.current ?? "",
                outcome.new ?? "", outcome.written ?? "",
            ] + tail
        }
    }

    private static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    private static func cell(_ text: String) -> String {
        let safe = harmless(text)
        guard safe.utf8.contains(where: { "\",\r\n".utf8.contains($0) }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }

    /// Prevents spreadsheets from running a text as a formula; numbers stay unchanged.
    private static func harmless(_ text: String) -> String {
        guard let first = text.utf8.first, "=+-@\t\r".utf8.contains(first), Double(text) == nil else { return text }
        return "'" + text
    }
}
