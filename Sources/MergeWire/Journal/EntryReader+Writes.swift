package import MergeCore

extension EntryReader {
    /// Returns the writes of an entry to some rows.
    ///
    /// The entry is read once, however many rows are asked for.
    package static func writes(
        in entry: [UInt8], of resource: Resource, rows wanted: Set<EntryRow>
    ) -> [EntryRow: RowWrites] {
        let found = try? entry.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: depth) { root throws(Problem) in
                var writes: [EntryRow: [RowWrites.Write]] = [:]
                each(root, of: resource, wanted) { outcome, row, kind in
                    guard let write = write(outcome, kind, in: resource.sections[row.section]) else { return }
                    writes[row, default: []].append(write)
                }
                return writes.mapValues { RowWrites($0) }
            }
        }
        return found ?? [:]
    }

    private static func write(_ outcome: JSONNode, _ kind: OutcomeKind, in section: Section) -> RowWrites.Write? {
        let hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        switch kind {
        case .deleted: return .deleted
        case .inserted, .restored: return .created(outcome["written"].map { values($0, in: section, hiding: hidden) })
        case .applied, .clientWon, .combined:
            guard let name = outcome["group"]?.string, let group = section.group(named: name) else { return nil }
            return .group(group, values(of: group, in: outcome, section, hiding: hidden))
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: return nil
        }
    }

    private static func values(
        of group: Int, in outcome: JSONNode, _ section: Section, hiding hidden: Set<String>
    ) -> [Value]? {
        guard let written = outcome["written"] else { return nil }
        let fields = section.groups[group].fields
        if fields.contains(where: { hidden.contains(section.fields[$0].name) }) { return nil }
        if fields.count == 1, let field = fields.first {
            return value(written, section.columns[section.fields[field].column]).map { [$0] }
        }
        let values = values(written, in: section, hiding: hidden)
        let known = fields.compactMap { values[$0] }
        return known.count == fields.count ? known : nil
    }
}
