/// Fields with no known value before the answer to a creation, which leaves them to the database.
extension RowChange {
    /// Returns the change with these fields marked as unknown; `new` keeps fields that the app has set.
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
                // The app read null for these fields, so a null was not assigned.
                groups[name] = GroupSides(
                    old: sides.old.filter { !mine.contains($0.key) },
                    new: sides.new.filter { !mine.contains($0.key) || !$0.value.isNull })
            }
            marked.step = .edit(groups)
        }
        return marked
    }

    /// Returns the change with the values of an answer's row in unknown fields; nil if nothing is left to change.
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

    /// Removes the marks of fields that the step does not have.
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
    /// True if some field is unknown, so that they cannot be sent.
    var hasUnknown: Bool { rows.contains { !$0.unknown.isEmpty } }

    /// Returns the changes with the fields of each row marked that creations without an answer leave to the database.
    func marked(_ unknown: UnknownFields, of resource: ResourceRules) -> RecordChanges {
        RecordChanges(
            rows.map { change in
                guard let section = resource.section(named: change.section) else { return change }
                return change.marked(unknown: unknown[change], in: section)
            })
    }
}

/// The fields that creations without an answer leave to the database, of each row of a record.
struct UnknownFields: Sendable {
    static let none = UnknownFields()

    private(set) var rows: [RowChange.Place: Set<String>] = [:]

    private init() {}

    /// - Parameter edits: the edits of one record, in their order.
    init(of edits: [RecordChanges], base: JSONObject?, resource: ResourceRules) {
        var base = base
        for change in edits.flatMap(\.rows) {
            guard let section = resource.section(named: change.section) else { continue }
            switch change.step {
            case .create(let new):
                // The base of this edit is a row from the gateway.
                guard change.row(of: base, isList: section.isList) == nil else { continue }
                rows[change.place] = Set(section.fields.keys).subtracting(new.keys)
            case .edit(let groups): for sides in groups.values { rows[change.place]?.subtract(sides.new.keys) }
            case .delete:
                rows[change.place] = nil
                if section.name == resource.root.name { rows = [:] }
                base = RecordChanges([change]).applied(to: base, id: .null, of: resource)
            }
        }
    }

    subscript(change: RowChange) -> Set<String> { rows[change.place] ?? [] }

    /// Returns the same fields under their present names.
    func renamed(in resource: ResourceRules) -> UnknownFields {
        var renamed = self
        for (place, names) in rows { renamed.rows[place] = resource.section(named: place.section)?.renamed(names) }
        return renamed
    }

    /// Removes a row, and returns its fields.
    mutating func remove(_ place: RowChange.Place) -> Set<String> { rows.removeValue(forKey: place) ?? [] }

    /// Removes the fields to which an edit gives another value.
    mutating func remove(_ changes: RecordChanges) {
        for change in changes.rows {
            for sides in change.groups.values {
                rows[change.place]?.subtract(sides.new.filter { $0.value != sides.old[$0.key] }.keys)
            }
        }
    }
}
