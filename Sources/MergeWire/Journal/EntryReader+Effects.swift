package import MergeCore

extension EntryReader {
    /// Returns what an entry did to the rows of a resource; rows that cannot be named by a key are passed over.
    package static func effects(_ entry: [UInt8], _ resource: Resource) -> [RowEffect] {
        let found = try? entry.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: 2_000) { root throws(Problem) in
                guard let record = root["id"].flatMap({ key($0, resource.root) }) else { return [RowEffect]() }
                return (root["outcomes"]?.elements ?? []).compactMap { effect($0, of: resource, record: record) }
            }
        }
        return found ?? []
    }

    private static func effect(_ outcome: JSONNode, of resource: Resource, record: RecordKey) -> RowEffect? {
        guard let index = outcome["section"]?.string.flatMap({ resource.section(named: $0) }),
            let kind = outcome["outcome"]?.string.flatMap({ OutcomeKind(rawValue: $0) })
        else { return nil }
        let section = resource.sections[index]
        let key: RecordKey
        switch section.kind {
        case .root: key = record
        case .list:
            guard let item = outcome["id"].flatMap({ self.key($0, section) }) else { return nil }
            key = item
        case .singleton: return nil
        }
        let hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        func fields(_ name: String) -> [Int: Value] {
            guard let node = outcome[name] else { return [:] }
            guard let group = outcome["group"]?.string.flatMap({ section.group(named: $0) }) else {
                return values(node, in: section, hiding: hidden)
            }
            let positions = section.groups[group].fields
            guard positions.count == 1, let field = positions.first else {
                return values(node, in: section, hiding: hidden)
            }
            if hidden.contains(section.fields[field].name) { return [:] }
            return value(node, section.columns[section.fields[field].column]).map { [field: $0] } ?? [:]
        }
        switch kind {
        case .applied, .clientWon, .combined:
            return RowEffect(section: index, key: key, before: fields("current"), after: fields("written"))
        case .inserted, .restored: return RowEffect(section: index, key: key, before: nil, after: fields("written"))
        case .deleted: return RowEffect(section: index, key: key, before: fields("current"), after: nil)
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: return nil
        }
    }
}
