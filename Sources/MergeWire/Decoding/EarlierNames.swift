import MergeCore

/// The names of groups and fields under earlier rules (`formerly` in the rule files).
enum EarlierNames {
    /// Returns true if an edit names a group or a field by an earlier name.
    ///
    /// It checks only names. The decoder refuses all other errors.
    static func areUsed(in edit: JSONNode, of resource: Resource?) -> Bool {
        guard let resource, let changeset = edit["changeset"], changeset.isObject else { return false }
        return changeset.members.contains { name, node in
            guard let index = resource.section(named: name.string) else { return false }
            let section = resource.sections[index]
            guard hasEarlierNames(section) else { return false }
            return (node.isArray ? node.elements : [node]).contains { areUsed(inRow: $0, of: section) }
        }
    }

    private static func hasEarlierNames(_ section: Section) -> Bool {
        section.groups.contains { !$0.formerly.isEmpty } || section.fields.contains { !$0.formerly.isEmpty }
    }

    private static func areUsed(inRow row: JSONNode, of section: Section) -> Bool {
        guard row.isObject else { return false }
        return row.members.contains { name, node in
            if name.string == "old" || name.string == "new" { return areFieldsUsed(in: node, of: section) }
            guard let group = section.group(named: name.string) else { return false }
            return !section.groups[group].name.isExactly(name.string)
                || (node.isObject && node.members.contains { areFieldsUsed(in: $0.value, of: section) })
        }
    }

    private static func areFieldsUsed(in values: JSONNode, of section: Section) -> Bool {
        guard values.isObject else { return false }
        return values.members.contains { name, _ in
            section.field(named: name.string).map { !section.fields[$0].name.isExactly(name.string) } ?? false
        }
    }
}
