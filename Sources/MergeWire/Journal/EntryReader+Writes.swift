package import MergeCore

extension EntryReader {
    /// Returns the writes of an entry to some rows, in one pass over the entry.
    package static func writes(
        in entry: [UInt8], of resource: Resource, rows wanted: Set<EntryRow>
    ) -> [EntryRow: RowWrites] {
        let found = JSONDocument.stored(entry) { root in
            var writes: [EntryRow: [RowWrites.Write]] = [:]
            each(root, of: resource, wanted) { outcome, row, kind in
                guard let write = write(outcome, kind: kind, in: resource.sections[row.section]) else { return }
                writes[row, default: []].append(write)
            }
            return writes.mapValues { RowWrites($0) }
        }
        return found ?? [:]
    }

    private static func write(_ outcome: JSONNode, kind: OutcomeKind, in section: Section) -> RowWrites.Write? {
        let hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        switch kind {
        case .deleted: return .deleted
        case .inserted, .restored: return .created(outcome["written"].map { kept($0, in: section, digested: hidden) })
        case .applied, .clientWon, .combined:
            guard let name = outcome["group"]?.string, let group = section.group(named: name) else { return nil }
            return .group(group, kept(group, in: outcome, section, digested: hidden))
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: return nil
        }
    }

    /// Returns the values that a group was written with, or nil if the entry does not contain all of them.
    private static func kept(
        _ group: Int, in outcome: JSONNode, _ section: Section, digested: Set<String>
    ) -> [KeptValue]? {
        guard let written = outcome["written"] else { return nil }
        let fields = section.groups[group].fields
        if fields.count == 1, let field = fields.first {
            return kept(written, section.fields[field], in: section, digested: digested).map { [$0] }
        }
        let values = kept(written, in: section, digested: digested)
        let known = fields.compactMap { values[$0] }
        return known.count == fields.count ? known : nil
    }

    static func kept(_ node: JSONNode, in section: Section, digested: Set<String>) -> [Int: KeptValue] {
        var values: [Int: KeptValue] = [:]
        for (name, node) in node.members {
            guard let field = section.field(named: name.string) else { continue }
            values[field] = kept(node, section.fields[field], in: section, digested: digested)
        }
        return values
    }

    /// Returns a stored value; NULL is never a digest, even in a private field.
    static func kept(
        _ node: JSONNode, _ field: Field, in section: Section, digested: Set<String>
    ) -> KeptValue? {
        if digested.contains(field.name), !node.isNull { return node.string.map { .digest($0) } }
        return value(node, section.columns[field.column]).map { .plain($0) }
    }
}
