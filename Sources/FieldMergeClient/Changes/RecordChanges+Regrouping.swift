/// Edits that were made under other rules.
extension RecordChanges {
    /// Returns changes made under other rules, in the groups of the active rules.
    ///
    /// - Parameters:
    ///   - seen: the record beneath, which has what a group needs beyond what was edited.
    ///   - unknown: what creations beneath leave to the database.
    /// - Throws: `InvalidEdit` if the rules lack a section or a field that the app has set.
    func regrouped(
        for resource: ResourceRules, over seen: JSONObject?, unknown: UnknownFields
    ) throws(InvalidEdit) -> RecordChanges {
        var result: [RowChange] = []
        for held in rows {
            let section = try resource.section(held.section)
            let change = held.renamed(in: section)
            guard section.isList == (change.item != nil) else {
                throw InvalidEdit(path: section.name, detail: "the section has another kind")
            }
            let row = change.row(of: seen, isList: section.isList)
            switch change.step {
            case .create(let new):
                for name in new.keys.sorted() { _ = try section.field(name, path: section.name) }
                result.append(change)
            case .delete(let old):
                result.append(change.regrouped(deletion: old, in: section, over: row))
            case .edit(let held):
                let hidden = unknown[change]
                let edit = try change.regrouped(edit: held, in: section, over: row, hidden: hidden)
                if !edit.groups.isEmpty { result.append(edit) }
            }
        }
        return RecordChanges(result)
    }
}

extension RowChange {
    /// Returns the change under the present names of its fields.
    fileprivate func renamed(in section: SectionRules) -> RowChange {
        let step: Step =
            switch self.step {
            case .create(let new): .create(section.renamed(new))
            case .delete(let old): .delete(section.renamed(old))
            case .edit(let groups):
                .edit(groups.mapValues { GroupSides(old: section.renamed($0.old), new: section.renamed($0.new)) })
            }
        return RowChange(section: self.section, item: item, step: step, unknown: section.renamed(unknown))
    }

    /// Returns a deletion with every field of the present rules.
    ///
    /// A field is unknown if the row lacks it.
    fileprivate func regrouped(deletion old: JSONObject, in section: SectionRules, over row: JSONObject?) -> RowChange {
        let gained = (row ?? [:]).filter { !unknown.contains($0.key) }
        var deletion = with(.delete(gained.merging(old) { _, old in old }.filter { section.fields[$0.key] != nil }))
        if case .delete(let known) = deletion.step {
            deletion.unknown = Set(section.fields.keys).subtracting(known.keys)
        }
        return deletion
    }

    /// Returns an edit in the present groups.
    ///
    /// - Parameter hidden: the fields that a creation without an answer leaves to the database.
    fileprivate func regrouped(
        edit held: [String: GroupSides], in section: SectionRules, over row: JSONObject?, hidden: Set<String>
    ) throws(InvalidEdit) -> RowChange {
        var old: JSONObject = [:]
        var new: JSONObject = [:]
        for sides in held.values {
            old.merge(sides.old) { _, last in last }
            new.merge(sides.new) { _, last in last }
        }
        // Fields with an `old` remain known.
        var unknown = self.unknown.union(hidden.subtracting(old.keys))
        var groups: [String: GroupSides] = [:]
        for name in new.keys.sorted() {
            // A field that the app has not set may go.
            if section.fields[name] == nil, let before = old[name], before == new[name] { continue }
            _ = try section.field(name, path: section.name)
            guard let group = section.group(ofField: name), groups[group.name] == nil else { continue }
            let before = group.fields(of: (row ?? [:]).merging(old) { _, old in old })
                .filter { !unknown.contains($0.key) }
            unknown.formUnion(group.unknownFields(of: before))
            let mine = new.filter { entry in group.fields.contains { $0.name == entry.key } }
            let after = before.merging(mine) { _, new in new }
            if !group.holdsSame(before, after) { groups[group.name] = GroupSides(old: before, new: after) }
        }
        var edit = with(.edit(groups))
        edit.unknown = unknown
        return edit.trimmed(in: section)
    }
}
