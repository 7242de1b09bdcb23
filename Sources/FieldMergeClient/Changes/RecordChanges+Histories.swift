/// A group of a record whose edit the new base shows as done.
struct DoneGroup: Hashable {
    let resource: String
    let record: IDText
    let row: RowChange.Place
    let group: String
}

/// The changes that remain of an edit that may have been merged.
struct LeftChanges {
    /// These are sent again.
    var kept: [RowChange] = []
    /// The outcome of these is unknown.
    var unknown: [RowChange] = []
}

extension RecordChanges {
    /// Returns whether a base has the root row that the changes create, under a key of the client's own.
    func isCreated(in base: JSONObject?, of resource: ResourceRules) -> Bool {
        let root = resource.root
        for case let change in rows where change.section == root.name {
            guard case .create(let new) = change.step else { continue }
            return root.has(new, in: base?[root.name]?.objectValue)
        }
        return false
    }

    /// Returns the rest of changes that may have been merged.
    ///
    /// - Parameter done: the groups that the base, or a later push, shows as done.
    func left(
        over base: JSONObject?, id: JSONValue, of resource: ResourceRules, done: inout Set<DoneGroup>
    ) -> LeftChanges {
        var left = LeftChanges()
        for change in rows {
            guard let section = resource.section(named: change.section) else {
                left.unknown.append(change)
                continue
            }
            let row = change.row(of: base, isList: section.isList)
            switch change.step {
            case .delete:
                if row != nil { left.kept.append(change) }
            case .create(let new):
                // A new row has no base that shows whether it was made.
                if (change.item ?? id).temporaryID != nil {
                    left.unknown.append(change)
                } else if !section.has(new, in: row) {
                    left.kept.append(change)
                }
            case .edit(let groups):
                var kept: [String: RowChange.GroupSides] = [:]
                var unknown: [String: RowChange.GroupSides] = [:]
                for (name, sides) in groups {
                    let group = section.group(name)
                    let mark = DoneGroup(resource: resource.name, record: id.key, row: change.place, group: name)
                    let isShown = row.map { group?.holdsSame($0, sides.new) ?? false } ?? false
                    if isShown || done.contains(mark) {
                        done.insert(mark)
                    } else if group == nil || group?.merge == "add" || group?.merge == "set" {
                        unknown[name] = sides
                    } else {
                        kept[name] = sides
                    }
                }
                if !kept.isEmpty { left.kept.append(change.with(.edit(kept))) }
                if !unknown.isEmpty { left.unknown.append(change.with(.edit(unknown))) }
            }
        }
        return left
    }
}

extension SectionRules {
    /// Returns whether a row has all of these values.
    fileprivate func has(_ values: JSONObject, in row: JSONObject?) -> Bool {
        guard let row else { return false }
        return values.allSatisfy { name, value in
            let held = row[name] ?? .null
            return fields[name]?.holdsSame(held, value) ?? (held == value)
        }
    }
}

extension ResourceRules {
    /// Returns whether an id names another record now: no group of the old base, or of an edit, is equal.
    func isOther(_ record: JSONObject, than held: JSONObject?, edits: [RecordChanges]) -> Bool {
        var compared = false
        /// Compares the groups that these values of a row have; true if one of them is equal.
        func isEqual(_ section: SectionRules, item: JSONValue?, to values: JSONObject) -> Bool {
            let change = RowChange(section: section.name, item: item, step: .edit([:]))
            guard let row = change.row(of: record, isList: section.isList) else { return false }
            for group in section.groups where group.fields.allSatisfy({ values[$0.name] != nil && row[$0.name] != nil })
            {
                compared = true
                if group.holdsSame(values, row) { return true }
            }
            return false
        }
        for section in sections {
            let part = held?[section.name]
            let rows =
                section.isList
                ? part?.arrayValue?.compactMap(\.objectValue) ?? [] : [part?.objectValue].compactMap { $0 }
            for row in rows where isEqual(section, item: section.isList ? row["id"] : nil, to: row) { return false }
        }
        for change in edits.flatMap(\.rows) {
            guard let section = section(named: change.section) else { continue }
            let sides: [JSONObject] =
                switch change.step {
                case .create(let new): [new]
                case .delete(let old): [old]
                case .edit(let groups): groups.values.flatMap { [$0.old, $0.new] }
                }
            for values in sides where isEqual(section, item: change.item, to: values) { return false }
        }
        return compared
    }
}
