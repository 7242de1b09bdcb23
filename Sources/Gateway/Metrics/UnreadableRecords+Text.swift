import MergeCore
import MergeService
import MergeWire

extension UnreadableRecords {
    /// Records that `/readyz` and `/metrics` name at most.
    static let mostNamed = 20

    /// Sentences for `/readyz` that name the first records, and how many others there are.
    var sentences: [String] {
        let all = current()
        let named = all.prefix(Self.mostNamed).map(\.sentence)
        let rest = all.count - named.count
        if rest == 0 { return named }
        return named + ["\(rest) other records cannot be read."]
    }
}

extension UnreadableRecords.Entry {
    /// The key as URLs spell it.
    var id: String { KeyText.encode(key, resource.root) }

    /// Names the record and the reason, without a value of the record.
    var sentence: String { "The record \(resource.name)/\(id) cannot be read: \(reason)." }
}

extension MetricsPage {
    /// Adds how many records cannot be read, and the names of the first of them.
    mutating func add(_ unreadable: [UnreadableRecords.Entry]) {
        let total = "fieldmerge_unreadable_records"
        begin(total, type: "gauge", help: "Records that cannot be read; /readyz names the reasons")
        add(total, labels: [], value: unreadable.count)
        if unreadable.isEmpty { return }
        let name = "fieldmerge_unreadable_record"
        begin(name, type: "gauge", help: "1 for each record that cannot be read, for the first of them")
        for record in unreadable.prefix(UnreadableRecords.mostNamed) {
            add(name, labels: [("resource", record.resource.name), ("id", record.id)], value: 1)
        }
    }
}
