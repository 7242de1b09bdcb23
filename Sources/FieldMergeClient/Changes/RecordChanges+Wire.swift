extension RecordChanges {
    /// Returns the changes in the wire format, without unknown fields; nil if the rules lack one of their names.
    package func changeset(of resource: ResourceRules) -> JSONObject? {
        var result: JSONObject = [:]
        for change in rows {
            guard let section = resource.section(named: change.section) else { return nil }
            var row: JSONObject = [:]
            switch change.step {
            case .edit(let groups):
                for (name, sides) in groups {
                    guard let group = section.group(name) else { return nil }
                    let fields = Set(group.fields.map(\.name))
                    guard change.unknown.isDisjoint(with: fields) else {
                        row[name] = ["new": group.fields.count == 1 ? group.value(of: sides.new) : .object(sides.new)]
                        continue
                    }
                    row[name] = ["old": group.value(of: sides.old), "new": group.value(of: sides.new)]
                }
            case .create(let new): row = ["old": .null, "new": .object(new)]
            case .delete(let old): row = ["old": .object(old), "new": .null]
            }
            if section.isList {
                row["id"] = change.item ?? .null
                result[section.name] = .array((result[section.name]?.arrayValue ?? []) + [.object(row)])
            } else {
                result[section.name] = .object(row)
            }
        }
        return result
    }

    /// The changes under the names of the rules by which they were made.
    var storedChangeset: JSONObject {
        var result: JSONObject = [:]
        for change in rows {
            var row: JSONObject = [:]
            switch change.step {
            case .edit(let groups):
                for (name, sides) in groups { row[name] = ["old": .object(sides.old), "new": .object(sides.new)] }
            case .create(let new): row = ["old": .null, "new": .object(new)]
            case .delete(let old): row = ["old": .object(old), "new": .null]
            }
            if let item = change.item {
                row["id"] = item
                result[change.section] = .array((result[change.section]?.arrayValue ?? []) + [.object(row)])
            } else {
                result[change.section] = .object(row)
            }
        }
        return result
    }

    /// The temporary ids of rows that the changes create.
    func createdIDs(of record: JSONValue, root: String) -> [String] {
        rows.compactMap { change in
            guard change.isCreation, change.section == root || change.item != nil else { return nil }
            return (change.item ?? record).temporaryID
        }
    }

    /// The temporary ids in the changes or in the record's id, created by them or not.
    func usedIDs(with record: JSONValue) -> Set<String> {
        var found: Set<String> = []
        func note(_ value: JSONValue) {
            if let id = value.temporaryID { found.insert(id) }
            for part in value.arrayValue ?? [] { if let id = part.temporaryID { found.insert(id) } }
        }
        func note(_ fields: JSONObject) {
            for value in fields.values { if let id = value.temporaryID { found.insert(id) } }
        }
        note(record)
        for change in rows {
            if let item = change.item { note(item) }
            switch change.step {
            case .create(let fields), .delete(let fields): note(fields)
            case .edit(let groups):
                for sides in groups.values {
                    note(sides.old)
                    note(sides.new)
                }
            }
        }
        return found
    }

    /// Returns the changes with real ids instead of temporary ids.
    func mapped(_ ids: [String: JSONValue]) -> RecordChanges {
        func mapped(_ fields: JSONObject) -> JSONObject {
            fields.mapValues { value in value.temporaryID.flatMap { ids[$0] } ?? value }
        }
        return RecordChanges(
            rows.map { change in
                let step: RowChange.Step
                switch change.step {
                case .create(let new): step = .create(mapped(new))
                case .delete(let old): step = .delete(mapped(old))
                case .edit(let groups):
                    step = .edit(
                        groups.mapValues { RowChange.GroupSides(old: mapped($0.old), new: mapped($0.new)) })
                }
                return RowChange(
                    section: change.section, item: change.item?.mapped(ids), step: step, unknown: change.unknown)
            })
    }
}

extension JSONValue {
    /// Returns an id with real ids instead of temporary ids.
    func mapped(_ ids: [String: JSONValue]) -> JSONValue {
        if case .array(let parts) = self { return .array(parts.map { $0.mapped(ids) }) }
        return temporaryID.flatMap { ids[$0] } ?? self
    }

    /// Returns a value with real ids instead of all temporary ids in it, at any depth.
    package func mappedDeep(_ ids: [String: JSONValue]) -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.map { $0.mappedDeep(ids) })
        case .object(let members): .object(members.mapValues { $0.mappedDeep(ids) })
        default: temporaryID.flatMap { ids[$0] } ?? self
        }
    }
}
