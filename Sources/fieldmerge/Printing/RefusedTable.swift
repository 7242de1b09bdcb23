import MergeWire
import RecordStore

struct RefusedTable {
    private let entries: [StoredEntry]
    private static let widest = 24
    private static let widestPath = 40

    init(_ entries: [StoredEntry]) {
        self.entries = entries
    }

    var text: String {
        if entries.isEmpty { return "no push is kept because it was refused" }
        let table = TextTable(
            titles: ["number", "time", "who", "device", "key", "address", "reason", "path", "bytes", "replayed"],
            rows: entries.map { entry in
                let cells = EntryCells(entry)
                let invalid = entry.refused.flatMap { InvalidPush($0.body) }
                return [
                    cells.number, cells.time, ShortText.beginning(of: cells.who, in: Self.widest),
                    ShortText.beginning(of: cells.device, in: Self.widest),
                    ShortText.beginning(of: cells.key, in: Self.widest), entry.refused?.address ?? "",
                    entry.refused?.reason ?? "",
                    ShortText.beginning(of: PlainText.visible(invalid?.path ?? ""), in: Self.widestPath),
                    String(invalid?.byteCount ?? entry.refused?.body.count ?? 0), entry.settlement?.text ?? "",
                ]
            })
        return ([table.head] + table.lines).joined(separator: "\n")
    }
}
