import TestSupport

/// The rows of one resource as clients read them.
///
/// The journal's entries are applied in the order of their numbers.
struct JournalReplay {
    /// Fields by record, section and item.
    ///
    /// The single item of a section that is not a list has an empty name.
    private(set) var records: [String: [String: [String: [String: JSON]]]] = [:]
    private(set) var last = 0

    /// - Parameter start: the records before the first entry.
    init(start: [JSON]) {
        for record in start {
            let id = record["id"]?.description ?? ""
            records[id] = [:]
            for (section, content) in record.object where section != "id" && !content.isNull {
                for row in content.array {
                    let item = row["id"]?.description ?? ""
                    records[id]?[section, default: [:]][item] = row.object.filter { $0.key != "id" }
                }
                if !content.object.isEmpty { records[id]?[section] = ["": content.object] }
            }
        }
    }

    /// The accounts of the ledger as they are made, with every entry of a gateway's journal.
    static func all(_ client: HTTPClient.Session) async throws -> JournalReplay {
        var replay = JournalReplay(start: try Ledger.start)
        try await replay.apply(client)
        return replay
    }

    private mutating func apply(_ client: HTTPClient.Session) async throws {
        while true {
            let page = try await client.get("/v1/journal?limit=200&after=\(last)")
            let entries = try page.json()["entries"]?.array ?? []
            for entry in entries { apply(entry) }
            if entries.isEmpty { return }
        }
    }

    private mutating func apply(_ entry: JSON) {
        last = max(last, entry["number"]?.int ?? 0)
        let id = entry["id"]?.description ?? ""
        for outcome in entry["outcomes"]?.array ?? [] {
            let section = outcome["section"]?.text ?? ""
            let item = outcome["id"]?.description ?? ""
            let written = outcome["written"]
            if let group = outcome["group"]?.text {
                // A group of one field is written as its value.
                let fields = written.map { $0.object.isEmpty ? [group: $0] : $0.object } ?? [:]
                records[id, default: [:]][section, default: [:]][item, default: [:]].merge(fields) { $1 }
            } else if outcome["outcome"]?.text == "deleted" {
                records[id]?[section]?[item] = nil
            } else if let row = written?.object, !row.isEmpty {
                records[id, default: [:]][section, default: [:]][item] = row
            }
        }
    }
}
