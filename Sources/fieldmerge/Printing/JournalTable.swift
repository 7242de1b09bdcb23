import RecordStore

/// Entries as a table for a terminal: a line for each, and below it a line for each of its groups.
struct JournalTable {
    private let entries: [EntryCells]
    private static let indent = "  "
    private static let widest = 24
    private static let widestRecord = 36

    init(_ entries: [StoredEntry]) {
        self.entries = entries.map(EntryCells.init)
    }

    var text: String {
        if entries.isEmpty { return "no entries" }
        let heads = TextTable(
            titles: ["number", "time", "who", "device", "record", "status"],
            rows: entries.map { entry in
                [
                    entry.number, entry.time, ShortText.beginning(of: entry.who, in: Self.widest),
                    ShortText.beginning(of: entry.device, in: Self.widest),
                    ShortText.beginning(of: entry.record, in: Self.widestRecord), entry.status,
                ]
            })
        let outcomes = OutcomeTable(entries.flatMap(\.outcomes))
        var lines = [heads.head, Self.indent + outcomes.head]
        var rest = outcomes.lines[...]
        for (entry, head) in zip(entries, heads.lines) {
            lines.append(head)
            lines += rest.prefix(entry.outcomes.count).map { Self.indent + $0 }
            rest = rest.dropFirst(entry.outcomes.count)
        }
        return lines.joined(separator: "\n")
    }
}
