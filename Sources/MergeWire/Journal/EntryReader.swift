package import MergeCore

/// Reads journal entries back into values.
package enum EntryReader {
    /// Returns the events of some rows in an entry, in their order and in one pass.
    ///
    /// - Parameter columns: Returns the columns of a section's table.
    package static func traces(
        _ entry: [UInt8], of resource: Resource, rows wanted: Set<EntryRow>, columns: (Int) -> [Column]
    ) -> EntryTraces {
        let found = JSONDocument.stored(entry) { root in
            var rows: [EntryRow: [RowTrace]] = [:]
            each(root, of: resource, wanted) { outcome, row, kind in
                guard
                    let trace = trace(
                        outcome, kind: kind, in: resource.sections[row.section], columns: columns(row.section))
                else { return }
                rows[row, default: []].append(trace)
            }
            return EntryTraces(rows: rows, conditions: conditions(of: root, resource))
        }
        return found ?? EntryTraces(rows: [:])
    }

    /// Calls `body` for each outcome of an entry that concerns one of some rows.
    static func each(
        _ entry: JSONNode, of resource: Resource, _ wanted: Set<EntryRow>,
        _ body: (JSONNode, EntryRow, OutcomeKind) -> Void
    ) {
        for outcome in entry["outcomes"]?.elements ?? [] {
            guard let name = outcome["section"]?.string,
                let section = resource.section(named: name),
                let kind = outcome["outcome"]?.string.flatMap({ OutcomeKind(rawValue: $0) })
            else { continue }
            let isItem = resource.sections[section].kind == .list
            let key = isItem ? outcome["id"].flatMap { self.key($0, resource.sections[section]) } : nil
            let row = EntryRow(section: section, key: key)
            if wanted.contains(row) { body(outcome, row, kind) }
        }
    }

    /// Returns the values that access conditions read in an entry's record, or nil if they are unknown.
    static func conditions(of entry: JSONNode, _ resource: Resource) -> [ConditionTuple]? {
        let tuples = (entry["conditions"]?.elements ?? []).map { node in
            node.string.flatMap { ConditionTuple(bytes: Array($0.utf8), of: resource) }
        }
        if tuples.isEmpty || tuples.contains(nil) { return nil }
        return tuples.compactMap(\.self)
    }

    private static func trace(
        _ outcome: JSONNode, kind: OutcomeKind, in section: Section, columns: [Column]
    ) -> RowTrace? {
        let hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        switch kind {
        case .applied, .clientWon, .serverWon, .combined:
            guard let name = outcome["group"]?.string, let group = section.group(named: name),
                let written = outcome["written"]
            else { return nil }
            let fields = section.groups[group].fields
            if fields.count == 1, let field = fields.first {
                if hidden.contains(section.fields[field].name) { return nil }
                return value(written, field: field, in: section).map { .fields([field: $0]) }
            }
            return .fields(values(written, in: section, hiding: hidden))
        case .inserted, .restored:
            return outcome["written"].map { .fields(values($0, in: section, hiding: hidden)) }
        case .deleted:
            let fields = outcome["current"].map { values($0, in: section, hiding: hidden) } ?? [:]
            return .whole(fields, outcome["row"].map { raw($0, columns) } ?? RawRow(values: []))
        case .unchanged, .already, .rejected, .kept, .missing: return nil
        }
    }

    private static func value(_ node: JSONNode, field: Int, in section: Section) -> Value? {
        value(node, section.columns[section.fields[field].column])
    }

    /// Returns a row without the columns that the table no longer has.
    ///
    /// - Parameter lost: The private fields without values in the entry.
    static func raw(_ node: JSONNode, _ columns: [Column], lost: [String] = []) -> RawRow {
        let values = columns.compactMap { column -> RawValue? in
            guard let part = node[column.name], let value = value(part, column) else { return nil }
            return RawValue(column: column, value: value)
        }
        return RawRow(values: values, lost: lost)
    }

    static func value(_ node: JSONNode, _ column: Column) -> Value? {
        try? column.foreign.accept(node.scalar, as: column.type)
    }

    /// Returns the fields that the section still has and that are not private.
    static func values(_ node: JSONNode, in section: Section, hiding hidden: Set<String>) -> [Int: Value] {
        var out: [Int: Value] = [:]
        for (name, node) in node.members where !hidden.contains(name.string) {
            guard let field = section.field(named: name.string) else { continue }
            out[field] = value(node, field: field, in: section)
        }
        return out
    }

    /// Reads a key of an answer, or returns nil if it does not fit the section.
    static func key(_ node: JSONNode, _ section: Section) -> RecordKey? {
        let parts = node.isArray ? node.elements : [node]
        guard parts.count == section.keyCount else { return nil }
        var values: [Value] = []
        for (part, column) in zip(parts, section.columns) {
            guard let value = try? column.keyValue(part.scalar) else { return nil }
            values.append(value)
        }
        return RecordKey(values)
    }
}

extension JSONNode {
    /// Returns the key of a result's record.
    ///
    /// If a creation found its record, the id next to it is temporary.
    func recordKey(of resource: Resource) -> RecordKey? {
        (self["record"]?["id"] ?? self["id"]).flatMap { EntryReader.key($0, resource.root) }
    }
}
