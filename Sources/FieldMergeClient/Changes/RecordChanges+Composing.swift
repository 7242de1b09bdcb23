extension RecordChanges {
    /// Returns these and later changes as one edit (first `old`, last `new`), empty if they cancel out; nil if they
    /// cannot be joined.
    package func composed(with later: RecordChanges, of resource: ResourceRules) -> RecordChanges? {
        if isDeletion(of: resource) { return nil }
        let root = resource.root.name
        if let deletion = later.rows.first(where: { $0.section == root && $0.isDeletion }) {
            if isCreation(of: resource) { return RecordChanges([]) }
            return RecordChanges([Self.firstSeen(rows.first { $0.section == root }, deletion: deletion)])
        }
        var result = rows
        for change in later.rows {
            guard let index = result.firstIndex(where: { $0.place == change.place }) else {
                result.append(change)
                continue
            }
            let earlier = result.remove(at: index)
            guard let section = resource.section(named: change.section) else { return nil }
            switch Self.joined(earlier, second: change, in: section) {
            case .apart: return nil
            case .nothing: break
            case .one(let joined): result.append(joined.trimmed(in: section))
            }
        }
        return RecordChanges(result)
    }

    private enum Joined {
        case one(RowChange)
        case nothing
        case apart
    }

    private static func joined(_ first: RowChange, second: RowChange, in section: SectionRules) -> Joined {
        switch (first.step, second.step) {
        case (.create(var new), .edit(let groups)):
            for (name, sides) in groups {
                guard let group = section.group(name), follows(group, before: new, seen: sides.old) else {
                    return .apart
                }
                new.merge(sides.new) { _, new in new }
            }
            return .one(first.with(.create(new)))
        case (.create, .delete): return .nothing
        case (.edit, .delete): return .one(firstSeen(first, deletion: second))
        case (.edit(var groups), .edit(let later)):
            for (name, sides) in later {
                guard let held = groups[name] else {
                    groups[name] = sides
                    continue
                }
                guard let group = section.group(name), group.transitions == nil,
                    follows(group, before: held.new, seen: sides.old)
                else { return .apart }
                let new = held.new.merging(sides.new) { _, new in new }
                let isKnown = first.unknown.isDisjoint(with: group.fields.map(\.name))
                groups[name] =
                    isKnown && group.holdsSame(held.old, new) ? nil : RowChange.GroupSides(old: held.old, new: new)
            }
            var joined = first.with(.edit(groups))
            joined.unknown.formUnion(second.unknown)
            return groups.isEmpty ? .nothing : .one(joined)
        default: return .apart
        }
    }

    /// Returns true if the base of a later edit contains the earlier edit.
    ///
    /// The gateway merges edits with independent bases.
    private static func follows(_ group: GroupRules, before: JSONObject, seen: JSONObject) -> Bool {
        group.fields.allSatisfy { field in
            before[field.name].map { field.holdsSame($0, seen[field.name] ?? .null) } ?? true
        }
    }

    private static func firstSeen(_ earlier: RowChange?, deletion: RowChange) -> RowChange {
        guard case .delete(var old) = deletion.step else { return deletion }
        for sides in earlier?.groups.values.map({ $0 }) ?? [] { old.merge(sides.old) { _, first in first } }
        var joined = deletion
        joined.unknown.formUnion(earlier?.unknown ?? [])
        joined.step = .delete(old.filter { !joined.unknown.contains($0.key) })
        return joined
    }
}

extension RecordChanges {
    /// Returns whether a record has each edited group as the `old` of the edit.
    func isSeen(in record: JSONObject?, of resource: ResourceRules) -> Bool {
        rows.allSatisfy { change in
            guard let section = resource.section(named: change.section) else { return false }
            guard let row = change.row(of: record, isList: section.isList) else { return change.isCreation }
            return change.groups.allSatisfy { name, sides in
                section.group(name).map { $0.agrees($0.fields(of: row), sides.old) } ?? false
            }
        }
    }
}

extension RowChange {
    /// Returns the row of a record that the change names; nil if there is none.
    func row(of record: JSONObject?, isList: Bool) -> JSONObject? {
        let part = record?[section]
        guard isList else { return part?.objectValue }
        let key = item?.key
        return part?.arrayValue?.first { $0["id"].key == key }?.objectValue
    }
}
