/// The changes of one record, row by row, in their order.
package struct RecordChanges: Sendable, Hashable {
    /// The changes, one for each row.
    package var rows: [RowChange]

    /// Takes changes as they are.
    package init(_ rows: [RowChange]) {
        self.rows = rows
    }

    /// Reads stored changes; nil if they are invalid.
    package init?(text: String) {
        guard let told = JSONValue(text: text)?.arrayValue else { return nil }
        rows = told.compactMap(RowChange.init)
        guard rows.count == told.count else { return nil }
    }

    /// The changes as they are stored.
    package var text: String { JSONValue.array(rows.map(\.jsonValue)).text }

    /// True if nothing changes.
    package var isEmpty: Bool { rows.isEmpty }

    /// Returns true if they create the record itself.
    func isCreation(of resource: ResourceRules) -> Bool {
        rows.contains { $0.section == resource.root.name && $0.isCreation }
    }

    /// Returns true if they delete the record itself.
    func isDeletion(of resource: ResourceRules) -> Bool {
        rows.contains { $0.section == resource.root.name && $0.isDeletion }
    }
}

// MARK: Found by comparing

extension RecordChanges {
    /// Finds the changes from one state of a record to another; nil means no record.
    package init(of resource: ResourceRules, from before: JSONObject?, to after: JSONObject?) {
        let root = resource.root
        guard let after else {
            rows = before.map { [Self.deletion(root, row: $0[root.name]?.objectValue ?? [:], item: nil)] } ?? []
            return
        }
        if let before {
            rows = Self.ofRow(root, from: before[root.name]?.objectValue, to: after[root.name]?.objectValue, item: nil)
        } else {
            rows = [Self.creation(root, row: after[root.name]?.objectValue ?? [:], item: nil)]
        }
        for section in resource.sections.dropFirst() {
            guard let new = after[section.name] else { continue }
            let old = before?[section.name]
            if section.isList {
                rows += Self.ofList(section, from: old?.arrayValue ?? [], to: new.arrayValue ?? [])
            } else {
                rows += Self.ofRow(section, from: old?.objectValue, to: new.objectValue, item: nil)
            }
        }
    }

    private static func ofList(_ section: SectionRules, from before: [JSONValue], to after: [JSONValue]) -> [RowChange]
    {
        let old = Dictionary(before.map { ($0["id"].key, $0) }) { first, _ in first }
        let new = Dictionary(after.map { ($0["id"].key, $0) }) { first, _ in first }
        let added = after.filter { old[$0["id"].key] == nil }
        return (before + added).flatMap { item in
            let id = item["id"]
            return ofRow(section, from: old[id.key]?.objectValue, to: new[id.key]?.objectValue, item: id)
        }
    }

    private static func ofRow(
        _ section: SectionRules, from before: JSONObject?, to after: JSONObject?, item: JSONValue?
    ) -> [RowChange] {
        guard let before else { return after.map { [creation(section, row: $0, item: item)] } ?? [] }
        guard let after else { return [deletion(section, row: before, item: item)] }
        var groups: [String: RowChange.GroupSides] = [:]
        var unknown: Set<String> = []
        // A group that the row does not show is not this client's to compare.
        for group in section.groups where group.fields.contains(where: { after[$0.name] != nil }) {
            let (old, new) = (group.fields(of: before), group.fields(of: after))
            guard !group.holdsSame(old, new) else { continue }
            groups[group.name] = RowChange.GroupSides(old: old, new: new)
            unknown.formUnion(group.unknownFields(of: old))
        }
        if groups.isEmpty { return [] }
        return [RowChange(section: section.name, item: item, step: .edit(groups), unknown: unknown)]
    }

    private static func creation(_ section: SectionRules, row: JSONObject, item: JSONValue?) -> RowChange {
        let new = row.filter { section.fields[$0.key] != nil }
        return RowChange(section: section.name, item: item, step: .create(new))
    }

    private static func deletion(_ section: SectionRules, row: JSONObject, item: JSONValue?) -> RowChange {
        let old = row.filter { section.fields[$0.key] != nil }
        let unknown = Set(section.fields.keys).subtracting(old.keys)
        return RowChange(section: section.name, item: item, step: .delete(old), unknown: unknown)
    }
}

// MARK: Applied

extension RecordChanges {
    /// Applies the changes that fit to a record, and returns it.
    package func applied(to record: JSONObject?, id: JSONValue, of resource: ResourceRules) -> JSONObject? {
        var record = record
        for change in rows {
            guard let section = resource.section(named: change.section) else { continue }
            if section.name == resource.root.name {
                if change.isDeletion { return nil }
                if case .create(let new) = change.step {
                    var made = record ?? Self.empty(resource, id: id)
                    made[section.name] = .object(
                        (made[section.name]?.objectValue ?? [:]).merging(new) { _, new in new })
                    record = made
                    continue
                }
            }
            guard let under = record else { continue }
            record =
                section.isList
                ? Self.item(change, of: section, over: under) : Self.row(change, of: section, over: under)
        }
        return record
    }

    private static func empty(_ resource: ResourceRules, id: JSONValue) -> JSONObject {
        var record: JSONObject = ["id": id, resource.root.name: .object(resource.root.blank)]
        for section in resource.sections.dropFirst() { record[section.name] = section.isList ? .array([]) : .null }
        return record
    }

    private static func row(_ change: RowChange, of section: SectionRules, over under: JSONObject) -> JSONObject {
        var record = under
        let row = record[section.name]?.objectValue
        switch change.step {
        case .delete: record[section.name] = .null
        case .create(let new): record[section.name] = .object((row ?? section.blank).merging(new) { _, new in new })
        case .edit(let groups):
            if let row { record[section.name] = .object(assigned(groups, to: row)) }
        }
        return record
    }

    private static func item(_ change: RowChange, of section: SectionRules, over under: JSONObject) -> JSONObject {
        var record = under
        var items = record[section.name]?.arrayValue ?? []
        let id = change.item ?? .null
        let index = items.firstIndex { $0["id"].key == id.key }
        switch (change.step, index) {
        case (.create(let new), let index?):
            items[index] = .object((items[index].objectValue ?? [:]).merging(new) { _, new in new })
        case (.create(let new), nil):
            var row = section.blank.merging(new) { _, new in new }
            row["id"] = id
            items.append(.object(row))
        case (.delete, let index?): items.remove(at: index)
        case (.edit(let groups), let index?):
            items[index] = .object(assigned(groups, to: items[index].objectValue ?? [:]))
        case (.delete, nil), (.edit, nil): return record
        }
        record[section.name] = .array(items)
        return record
    }

    private static func assigned(_ groups: [String: RowChange.GroupSides], to row: JSONObject) -> JSONObject {
        groups.values.reduce(row) { $0.merging($1.new) { _, new in new } }
    }
}
