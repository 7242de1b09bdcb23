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

    /// A change of one outcome of an entry to one row.
    package struct Step: Sendable, Hashable {
        /// The position of the outcome in the entry.
        package let outcome: Int
        /// The position of the section in the resource.
        package let section: Int
        /// The key of an item; nil for the root and for singletons.
        package let item: RecordKey?
        /// The fields before; nil if there was no row.
        package let before: [Int: Value]?
        /// The fields afterwards; nil if no row is left.
        package let after: [Int: Value]?
        /// True if the entry does not contain all values, because some are private.
        package let isPartial: Bool

        /// Makes a step of a row.
        package init(
            outcome: Int, section: Int, item: RecordKey?, before: [Int: Value]?, after: [Int: Value]?, isPartial: Bool
        ) {
            self.outcome = outcome
            self.section = section
            self.item = item
            self.before = before
            self.after = after
            self.isPartial = isPartial
        }
    }

    /// Returns the key of the record of an entry and the steps by which the entry changed it; nil if they cannot be read.
    package static func steps(_ entry: [UInt8], _ resource: Resource) -> (record: RecordKey, steps: [Step])? {
        try? entry.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: 2_000) { root throws(Problem) in
                guard let record = root["id"].flatMap({ key($0, resource.root) }) else { return nil }
                let steps = (root["outcomes"]?.elements ?? []).enumerated().compactMap { position, outcome in
                    step(outcome, at: position, of: resource)
                }
                return (record, steps)
            }
        }
    }

    private static func effect(_ outcome: JSONNode, of resource: Resource, record: RecordKey) -> RowEffect? {
        guard let step = step(outcome, at: 0, of: resource) else { return nil }
        let key: RecordKey
        switch resource.sections[step.section].kind {
        case .root: key = record
        case .list:
            guard let item = step.item else { return nil }
            key = item
        case .singleton: return nil
        }
        return RowEffect(section: step.section, key: key, before: step.before, after: step.after)
    }

    private static func step(_ outcome: JSONNode, at position: Int, of resource: Resource) -> Step? {
        guard let index = outcome["section"]?.string.flatMap({ resource.section(named: $0) }),
            let kind = outcome["outcome"]?.string.flatMap({ OutcomeKind(rawValue: $0) })
        else { return nil }
        let section = resource.sections[index]
        let item = section.kind == .list ? outcome["id"].flatMap { self.key($0, section) } : nil
        if section.kind == .list, item == nil { return nil }
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
        func step(before: [Int: Value]?, after: [Int: Value]?) -> Step {
            Step(
                outcome: position, section: index, item: item, before: before, after: after,
                isPartial: !hidden.isEmpty)
        }
        switch kind {
        case .applied, .clientWon, .combined:
            return step(before: fields("current"), after: fields("written"))
        case .inserted, .restored: return step(before: nil, after: fields("written"))
        case .deleted: return step(before: fields("current"), after: nil)
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: return nil
        }
    }
}
