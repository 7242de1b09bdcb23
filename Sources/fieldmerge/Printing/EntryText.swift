import MergeWire
import RecordStore

/// One entry with all its complete values, one below the other.
struct EntryText {
    private let entry: StoredEntry

    init(_ entry: StoredEntry) {
        self.entry = entry
    }

    var text: String {
        let cells = EntryCells(entry)
        let head = [
            ("entry", cells.number), ("time", cells.time), ("who", cells.who), ("device", cells.device),
            ("key", cells.key), ("request", cells.request), ("record", cells.record), ("status", cells.status),
            ("problem", cells.problem), ("path", cells.path), ("constraint", cells.constraint), ("rule", cells.rule),
            ("erased", cells.erased),
            ("rules", entry.entry?.rules ?? ""), ("address", entry.refused?.address ?? ""),
            ("replayed", entry.settlement?.text ?? ""),
            ("body", entry.refused.map { Self.lines(String(decoding: $0.body, as: UTF8.self)) } ?? ""),
        ]
        return ([Self.block(head)] + cells.outcomes.map(Self.outcome)).joined(separator: "\n\n")
    }

    private static func outcome(_ outcome: OutcomeText) -> String {
        let why = (outcome.isConflict ? "a conflict, " : "") + "by " + outcome.rule
        let sides = zip(["old", "overwritten", "new", "written"], outcome.sides).map { ("  " + $0, $1) }
        let more = outcome.more.map { ("  " + $0.name, PlainText.visible($0.text)) }
        return "\(outcome.place): \(outcome.outcome) (\(why))\n" + block(sides + more)
    }

    /// Aligns names and texts, and leaves out empty texts.
    private static func block(_ lines: [(name: String, text: String)]) -> String {
        let told = lines.filter { !$0.text.isEmpty }
        let width = told.map { $0.name.count }.max() ?? 0
        return told.map { $0.name + String(repeating: " ", count: width - $0.name.count + 2) + $0.text }
            .joined(separator: "\n")
    }

    private static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.visible(String($0)) }
            .joined(separator: "\n")
    }
}
