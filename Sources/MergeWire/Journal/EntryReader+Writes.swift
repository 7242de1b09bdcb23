package import MergeCore

extension EntryReader {
    /// Returns the last write of an entry to a group or a row; nil where it wrote nothing there.
    ///
    /// - Parameters:
    ///   - section: the row's section.
    ///   - key: the row's key in a list.
    ///   - group: nil for the row as a whole.
    package static func write(
        in entry: [UInt8], of resource: Resource, section: Int, key: RecordKey?, group: Int?
    ) -> WriteTrace? {
        let found = try? entry.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: 2_000) { root throws(Problem) in
                (root["outcomes"]?.elements ?? []).reversed().lazy.compactMap { outcome in
                    write(outcome, in: resource.sections[section], key: key, group: group)
                }.first
            }
        }
        return found ?? nil
    }

    private static func write(
        _ outcome: JSONNode, in section: Section, key: RecordKey?, group: Int?
    ) -> WriteTrace? {
        guard outcome["section"]?.string == section.name, let word = outcome["outcome"]?.string,
            let kind = OutcomeKind(rawValue: word)
        else { return nil }
        if section.kind == .list, outcome["id"].flatMap({ self.key($0, section) }) != key { return nil }
        let hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        switch kind {
        case .deleted: return .deleted
        case .inserted, .restored:
            guard let group, let written = outcome["written"] else { return .something }
            let fields = section.groups[group].fields
            let values = values(written, in: section, hiding: hidden)
            let known = fields.compactMap { values[$0] }
            return known.count == fields.count ? .group(known) : .something
        case .applied, .clientWon, .combined:
            guard let name = outcome["group"]?.string, let written = section.group(named: name) else { return nil }
            guard let group else { return .something }
            guard written == group else { return nil }
            return values(of: group, in: outcome, section, hiding: hidden).map { .group($0) } ?? .something
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
