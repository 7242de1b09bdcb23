package import MergeCore

/// Reads entries of the journal back into values.
package enum EntryReader {
    private static let depth = 2_000

    /// Returns what an entry tells of one row, in the order in which it happened.
    ///
    /// - Parameters:
    ///   - section: the row's section.
    ///   - key: the row's key in a list.
    ///   - columns: those of its table.
    package static func traces(
        _ entry: [UInt8], of resource: Resource, section: Int, key: RecordKey?, columns: [Column]
    ) -> EntryTraces {
        let found = try? entry.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: depth) { root throws(Problem) in
                EntryTraces(
                    rows: (root["outcomes"]?.elements ?? []).compactMap { outcome in
                        trace(outcome, in: resource.sections[section], key: key, columns: columns)
                    }, conditions: conditions(of: root, resource))
            }
        }
        return found ?? EntryTraces(rows: [])
    }

    /// Returns what conditions of access looked at in an entry's record; nil where that is not known.
    static func conditions(of entry: JSONNode, _ resource: Resource) -> [ConditionTuple]? {
        let tuples = (entry["conditions"]?.elements ?? []).map { node in
            node.string.flatMap { ConditionTuple(bytes: Array($0.utf8), of: resource) }
        }
        if tuples.isEmpty || tuples.contains(nil) { return nil }
        return tuples.compactMap(\.self)
    }

    private static func trace(_ outcome: JSONNode, in section: Section, key: RecordKey?, columns: [Column])
        -> RowTrace?
    {
        guard outcome["section"]?.string == section.name, let word = outcome["outcome"]?.string,
            let kind = OutcomeKind(rawValue: word)
        else { return nil }
        if section.kind == .list, outcome["id"].flatMap({ self.key($0, section) }) != key { return nil }
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

    /// The columns of a whole row that the table has still.
    static func raw(_ node: JSONNode, _ columns: [Column]) -> RawRow {
        RawRow(
            values: columns.compactMap { column in
                guard let part = node[column.name], let value = value(part, column) else { return nil }
                return RawValue(column: column, value: value)
            })
    }

    static func value(_ node: JSONNode, _ column: Column) -> Value? {
        try? column.isLoose ? column.type.acceptLoosely(node.scalar) : column.type.accept(node.scalar)
    }

    /// The fields of an object that are fields of the section still, and not private.
    static func values(_ node: JSONNode, in section: Section, hiding hidden: Set<String>) -> [Int: Value] {
        var out: [Int: Value] = [:]
        for (name, node) in node.members where !hidden.contains(name.string) {
            guard let field = section.field(named: name.string) else { continue }
            out[field] = value(node, field: field, in: section)
        }
        return out
    }

    /// A key as it stands in an answer; nil where it is none of the section's.
    static func key(_ node: JSONNode, _ section: Section) -> RecordKey? {
        let parts = node.isArray ? node.elements : [node]
        guard parts.count == section.keyCount else { return nil }
        var values: [Value] = []
        for (part, column) in zip(parts, section.columns) {
            guard let value = try? column.type.accept(part.scalar), !value.isNull else { return nil }
            values.append(value)
        }
        return RecordKey(values)
    }
}
