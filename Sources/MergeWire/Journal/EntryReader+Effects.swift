package import MergeCore

extension EntryReader {
    /// Returns the effects of an entry on the rows of a resource, except rows of lists without a key.
    package static func effects(_ entry: [UInt8], _ resource: Resource) -> [RowEffect] {
        steps(entry, resource).map(\.effect)
    }

    /// The effect of one outcome of an entry.
    package struct Step: Sendable, Hashable {
        /// The position of the outcome in the entry.
        package let outcome: Int
        /// The effect on a row.
        package let effect: RowEffect
    }

    /// Returns the effects of an entry with the positions of their outcomes.
    package static func steps(_ entry: [UInt8], _ resource: Resource) -> [Step] {
        let found = JSONDocument.stored(entry) { root in
            guard let record = root["id"].flatMap({ key($0, resource.root) }) else { return [Step]() }
            return (root["outcomes"]?.elements ?? []).enumerated().compactMap { position, outcome in
                effect(outcome, of: resource, record: record).map { Step(outcome: position, effect: $0) }
            }
        }
        return found ?? []
    }

    private static func effect(_ outcome: JSONNode, of resource: Resource, record: RecordKey) -> RowEffect? {
        guard let index = outcome["section"]?.string.flatMap({ resource.section(named: $0) }),
            let kind = outcome["outcome"]?.string.flatMap({ OutcomeKind(rawValue: $0) }), outcome["erased"] == nil,
            outcome["unlogged"] == nil
        else { return nil }
        let section = resource.sections[index]
        let key: RecordKey?
        switch section.kind {
        case .root: key = record
        case .list:
            guard let item = outcome["id"].flatMap({ self.key($0, section) }) else { return nil }
            key = item
        case .singleton: key = nil
        }
        let row = RowEffect.Row(record: record, section: index, key: key)
        let hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        func fields(_ name: String) -> [Int: KeptValue] {
            guard let node = outcome[name] else { return [:] }
            if let group = outcome["group"]?.string.flatMap({ section.group(named: $0) }),
                section.groups[group].fields.count == 1, let field = section.groups[group].fields.first
            {
                return kept(node, section.fields[field], in: section, digested: hidden).map { [field: $0] } ?? [:]
            }
            return kept(node, in: section, digested: hidden)
        }
        switch kind {
        case .applied, .clientWon, .combined:
            return RowEffect(row, before: fields("current"), after: fields("written"))
        case .inserted, .restored: return RowEffect(row, before: nil, after: fields("written"))
        case .deleted: return RowEffect(row, before: fields("current"), after: nil)
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: return nil
        }
    }
}
