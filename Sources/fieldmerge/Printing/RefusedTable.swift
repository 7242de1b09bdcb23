import RecordStore

struct RefusedTable {
    private let entries: [StoredEntry]
    private static let widest = 24

    init(_ entries: [StoredEntry]) {
        self.entries = entries
    }

    var text: String {
        if entries.isEmpty { return "no push is kept because it was refused" }
        let table = TextTable(
            titles: ["number", "time", "who", "key", "address", "reason", "bytes", "replayed"],
            rows: entries.map { entry in
                let cells = EntryCells(entry)
                return [
                    cells.number, cells.time, ShortText.beginning(of: cells.who, in: Self.widest),
                    ShortText.beginning(of: cells.key, in: Self.widest), entry.refused?.address ?? "",
                    entry.refused?.reason ?? "", String(entry.refused?.body.count ?? 0), entry.replayed ?? "",
                ]
            })
        return ([table.head] + table.lines).joined(separator: "\n")
    }
}
