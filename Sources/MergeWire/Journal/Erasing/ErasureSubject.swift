package import MergeCore

/// The person whose values are erased: a sender, or a record with its rows.
package struct ErasureSubject: Sendable {
    /// The name of the sender; nil if the person is a record.
    let who: String?
    private let records: [String: Set<RecordKey>]
    private let rows: [String: [Int: Set<RecordKey>]]
    private let lookups: [String: [Int: [String: Set<String>]]]

    /// Makes the subject of all pushes of a sender.
    package init(who: String) {
        self.who = who
        (records, rows, lookups) = ([:], [:], [:])
    }

    /// Makes the subject of a record, which several resources may contain.
    ///
    /// - Parameters:
    ///   - records: the record's key in each resource with the same root table.
    ///   - rows: the rows of the record, which other resources may contain too.
    package init(records: [(resource: Resource, key: RecordKey)], rows: [ErasedRow], in catalog: Catalog) {
        who = nil
        self.records = records.reduce(into: [:]) { $0[$1.resource.name, default: []].insert($1.key) }
        var found: [String: [Int: Set<RecordKey>]] = [:]
        var lookups: [String: [Int: [String: Set<String>]]] = [:]
        for resource in catalog.resources {
            for (index, section) in resource.sections.enumerated() {
                let keys = rows.compactMap { $0.key(in: section, of: resource) }
                if !keys.isEmpty { found[resource.name, default: [:]][index] = Set(keys) }
                for field in section.shown {
                    let texts = rows.compactMap { $0.text(of: section.columns[field.column]) }
                    if !texts.isEmpty {
                        lookups[resource.name, default: [:]][index, default: [:]][field.name] = Set(texts)
                    }
                }
            }
        }
        self.rows = found
        self.lookups = lookups
    }

    /// Returns true if the whole record is the person.
    func isRecord(_ key: RecordKey?, of resource: Resource) -> Bool {
        key.flatMap { records[resource.name]?.contains($0) } ?? false
    }

    /// Returns true if a row belongs to the person.
    ///
    /// - Parameter item: the key of a list's row.
    func containsRow(in section: Int, record: RecordKey?, item: RecordKey?, of resource: Resource) -> Bool {
        let key = resource.sections[section].kind == .list ? item : record
        return key.flatMap { rows[resource.name]?[section]?.contains($0) } ?? false
    }

    /// Returns true if a row shows a value of the person's row along a reference.
    func isShown(by row: JSONNode, in section: Int, of resource: Resource) -> Bool {
        guard let fields = lookups[resource.name]?[section] else { return false }
        return fields.contains { name, texts in row[name].map { texts.contains($0.text) } ?? false }
    }

    /// Returns true if the keys of a cascade are those of the person's rows.
    func contains(cascade: JSONNode, in catalog: Catalog) -> Bool {
        let names = cascade["columns"]?.elements.compactMap(\.string) ?? []
        for resource in catalog.resources {
            for (index, section) in resource.sections.enumerated() where section.kind != .singleton {
                guard section.table.name == cascade["table"]?.string, let keys = rows[resource.name]?[index] else {
                    continue
                }
                let places = section.columns.prefix(section.keyCount).map { names.firstIndex(of: $0.name) }
                for row in cascade["rows"]?.elements ?? [] {
                    let parts = row.elements
                    let values = zip(places, section.columns).compactMap { place, column in
                        place.flatMap { $0 < parts.count ? try? column.keyValue(parts[$0].scalar) : nil }
                    }
                    if values.count == section.keyCount, keys.contains(RecordKey(values)) { return true }
                }
            }
        }
        return false
    }

    /// Returns true if a text names the sender.
    func isNamed(in node: JSONNode) -> Bool {
        guard let who else { return false }
        if node.isArray { return node.elements.contains { isNamed(in: $0) } }
        if node.isObject { return node.members.contains { isNamed(in: $0.value) } }
        return node.isText(who)
    }
}
