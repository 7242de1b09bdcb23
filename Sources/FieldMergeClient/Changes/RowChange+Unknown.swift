/// Fields whose value nobody knows before a creation is answered, because it leaves them to the database.
extension RowChange {
    /// Returns the change with these fields marked as unknown; what its user did not touch of them is taken out of `new`.
    func marked(unknown fields: Set<String>, in section: SectionRules) -> RowChange {
        var marked = self
        switch step {
        case .create: return self
        case .delete(let old):
            marked.unknown.formUnion(fields.intersection(old.keys))
            marked.step = .delete(old.filter { !fields.contains($0.key) })
        case .edit(var groups):
            for (name, sides) in groups {
                guard let group = section.group(name) else { continue }
                let mine = fields.intersection(group.fields.map(\.name))
                guard !mine.isEmpty else { continue }
                marked.unknown.formUnion(mine)
                // The app read null for what nobody knows: what is null still was not assigned.
                groups[name] = GroupSides(
                    old: sides.old.filter { !mine.contains($0.key) },
                    new: sides.new.filter { !mine.contains($0.key) || !$0.value.isNull })
            }
            marked.step = .edit(groups)
        }
        return marked
    }

    /// Returns the change with what was unknown taken from the row as the answer to its creation tells it; nil where nothing
    /// is left to change.
    func filled(from row: JSONObject, in section: SectionRules) -> RowChange? {
        guard !unknown.isEmpty else { return self }
        var filled = self
        let told = row.filter { unknown.contains($0.key) && section.fields[$0.key] != nil }
        filled.unknown = unknown.intersection(section.fields.keys).subtracting(told.keys)
        switch step {
        case .create: break
        case .delete(let old): filled.step = .delete(told.merging(old) { _, known in known })
        case .edit(let groups):
            var known: [String: GroupSides] = [:]
            for (name, sides) in groups {
                guard let group = section.group(name), group.fields.contains(where: { unknown.contains($0.name) })
                else {
                    known[name] = sides
                    continue
                }
                let old = group.fields(of: told.merging(sides.old) { _, known in known })
                let new = group.fields(of: old.merging(sides.new) { _, new in new })
                if !group.holdsSame(old, new) { known[name] = GroupSides(old: old, new: new) }
            }
            if known.isEmpty { return nil }
            filled.step = .edit(known)
        }
        return filled
    }

    /// Keeps the marks of fields that the step still is about.
    func trimmed(in section: SectionRules) -> RowChange {
        var trimmed = self
        switch step {
        case .create: trimmed.unknown = []
        case .delete: break
        case .edit(let groups):
            let edited = groups.keys.compactMap { section.group($0) }.flatMap(\.fields).map(\.name)
            trimmed.unknown.formIntersection(edited)
        }
        return trimmed
    }
}

extension RecordChanges {
    /// True where something of them cannot be written yet.
    var hasUnknown: Bool { rows.contains { !$0.unknown.isEmpty } }

    /// Returns the changes with what is unknown of each row marked.
    ///
    /// - Parameter under: the edits beneath that have no answer, in their order.
    func marked(over under: [RecordChanges], base: JSONObject?, of resource: ResourceRules) -> RecordChanges {
        let fields = UnknownFields(of: under, base: base, resource: resource)
        return RecordChanges(
            rows.map { change in
                guard let section = resource.section(named: change.section) else { return change }
                return change.marked(unknown: fields[change, in: section], in: section)
            })
    }
}

/// The fields that creations without an answer leave to the database.
struct UnknownFields {
    private var known: [RowChange.Place: Set<String>] = [:]

    /// - Parameter edits: the edits of one record, in their order.
    init(of edits: [RecordChanges], base: JSONObject?, resource: ResourceRules) {
        for change in edits.flatMap(\.rows) {
            guard let section = resource.section(named: change.section) else { continue }
            switch change.step {
            case .create(let new):
                // A row that the server has told already is one that its user sees.
                guard change.row(of: base, isList: section.isList) == nil else { continue }
                known[change.place] = Set(new.keys)
            case .edit(let groups):
                if known[change.place] != nil {
                    for sides in groups.values { known[change.place]?.formUnion(sides.new.keys) }
                }
            case .delete:
                known[change.place] = nil
                if section.name == resource.root.name { known = [:] }
            }
        }
    }

    subscript(change: RowChange, in section: SectionRules) -> Set<String> {
        guard let known = known[change.place] else { return [] }
        return Set(section.fields.keys).subtracting(known)
    }
}
