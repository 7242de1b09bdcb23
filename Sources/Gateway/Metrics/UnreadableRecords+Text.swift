import MergeCore
import MergeService
import MergeWire

extension UnreadableRecords {
    /// The maximum records that `/readyz` and `/metrics` name.
    static let mostNamed = 20

    /// Sentences for `/readyz`: the first records, and the number of the rest.
    var sentences: [String] {
        let all = current()
        let named = all.prefix(Self.mostNamed).map(\.sentence)
        let rest = all.dropFirst(Self.mostNamed).reduce(0) { $0 + $1.count }
        if rest == 0 { return named }
        return named + ["\(rest) other records cannot be read."]
    }
}

extension UnreadableRecords.Entry {
    /// The key in its URL form; empty if it cannot be decoded.
    var id: String { key.map { KeyText.encode($0, resource.root) } ?? "" }

    /// A sentence with the record and the reason, without values of the record.
    var sentence: String {
        if key != nil { return "The record \(resource.name)/\(id) cannot be read: \(reason)." }
        return "At least \(count) row\(count == 1 ? "" : "s") of table “\(table)” cannot be read by key, so clients of "
            + "\(resource.name) do not get them: \(reason)."
    }
}

extension MetricsPage {
    /// Adds the number of unreadable records and the first of them.
    mutating func add(_ unreadable: [UnreadableRecords.Entry]) {
        let total = "fieldmerge_unreadable_records"
        begin(total, type: "gauge", help: "Records that cannot be read; /readyz names the reasons")
        add(total, labels: [], value: unreadable.reduce(0) { $0 + $1.count })
        if unreadable.isEmpty { return }
        let name = "fieldmerge_unreadable_record"
        begin(
            name, type: "gauge",
            help: "1 for each record that cannot be read, for the first of them; with a table instead of an id the "
                + "number of rows whose key cannot be read")
        for record in unreadable.prefix(UnreadableRecords.mostNamed) {
            let subject = record.key == nil ? ("table", "\(record.table)") : ("id", record.id)
            add(name, labels: [("resource", record.resource.name), subject], value: record.count)
        }
    }
}
