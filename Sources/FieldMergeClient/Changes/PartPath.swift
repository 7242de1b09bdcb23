import Foundation

/// A part of an edit by its path: `section`, `section.group`, `list[ID]`, `list[ID].group`.
///
/// A field selects its group.
struct PartPath {
    private let section: String
    private let item: IDText?
    private let name: String?

    /// - Throws: `InvalidEdit` with the nearest name if the rules have no such part.
    init(_ text: String, of resource: ResourceRules) throws(InvalidEdit) {
        let (section, rest) = Self.split(text, at: ["[", "."])
        guard let known = resource.section(named: section) else {
            throw InvalidEdit(unknown: section, among: resource.sections.map(\.name), path: text)
        }
        var (id, tail) = (JSONValue?.none, rest)
        if rest.first == "[" {
            guard let (found, after) = Self.id(rest) else {
                throw InvalidEdit(path: text, detail: "an id is JSON in [ ]")
            }
            (id, tail) = (found, after)
        }
        guard known.isList || id == nil else { throw InvalidEdit(path: text, detail: "the section is no list") }
        self.section = section
        item = id?.key
        name = tail.isEmpty ? nil : String(tail.dropFirst())
        if let name, known.group(name) == nil, known.fields[name] == nil {
            throw InvalidEdit(unknown: name, among: known.groups.map(\.name) + known.fields.keys, path: text)
        }
    }

    private static func split(_ text: String, at ends: Set<Character>) -> (String, Substring) {
        let end = text.firstIndex(where: ends.contains) ?? text.endIndex
        return (String(text[..<end]), text[end...])
    }

    private static func id(_ text: Substring) -> (JSONValue, Substring)? {
        for end in text.indices where text[end] == "]" {
            let after = text[text.index(after: end)...]
            guard after.isEmpty || after.first == ".", let id = JSONValue(text: String(text[..<end].dropFirst())) else {
                continue
            }
            return (id, after)
        }
        return nil
    }

    /// Divides a change into the parts outside of the path and the parts that it names.
    func divide(_ change: RowChange, _ section: SectionRules?) -> (kept: RowChange?, left: RowChange?) {
        guard change.section == self.section, item == nil || change.item?.key == item else { return (change, nil) }
        guard let name else { return (nil, change) }
        switch change.step {
        case .delete: return (nil, change)
        case .edit(let groups):
            let left = groups.filter { $0.key == name || $0.value.new[name] != nil }
            let kept = groups.filter { left[$0.key] == nil }
            return (kept.isEmpty ? nil : change.with(.edit(kept)), left.isEmpty ? nil : change.with(.edit(left)))
        case .create(let new):
            guard let group = section?.group(name) ?? section?.group(ofField: name) else { return (change, nil) }
            let left = group.fields(of: new)
            guard !left.isEmpty else { return (change, nil) }
            // The row has these fields from the database then, and its answer tells their values.
            var edit = change.with(.edit([group.name: RowChange.GroupSides(old: [:], new: left)]))
            edit.unknown = Set(group.fields.map(\.name))
            return (change.with(.create(new.filter { left[$0.key] == nil })), edit)
        }
    }
}

extension RowChange {
    /// The path of a group of the row.
    func path(of group: String?) -> String {
        let row = item.map { "\(section)[\($0.text)]" } ?? section
        return group.map { "\(row).\($0)" } ?? row
    }

    /// The groups that the change writes.
    func writtenGroups(_ section: SectionRules) -> [GroupRules] {
        switch step {
        case .edit(let groups): section.groups.filter { groups[$0.name] != nil }
        case .create(let new): section.groups.filter { group in group.fields.contains { new[$0.name] != nil } }
        case .delete: []
        }
    }
}

extension RecordChanges {
    /// Returns the paths of the groups that a refusal names.
    func faultyPaths(result: JSONValue, problem: JSONValue, of resource: ResourceRules) -> [String] {
        var paths: [String] = []
        let rejected = (result["outcomes"].arrayValue ?? []).filter { $0["outcome"] == "rejected" }
        let fields = problem["fields"].arrayValue?.compactMap(\.stringValue) ?? []
        for change in rows {
            guard let section = resource.section(named: change.section) else { continue }
            for group in change.writtenGroups(section) {
                let isRejected = rejected.contains { outcome in
                    outcome["section"] == .string(change.section) && outcome["group"] == .string(group.name)
                        && (change.item.map { outcome["id"].key == $0.key } ?? true)
                }
                let isNamed = group.fields.contains { fields.contains($0.name) }
                if isRejected || isNamed { paths.append(change.path(of: group.name)) }
            }
        }
        if let path = problem["path"].stringValue.flatMap({ faultyPath($0, of: resource) }), !paths.contains(path) {
            paths.append(path)
        }
        return paths
    }

    /// Returns the path of the group that a path of a request names, such as `changeset.groceries[0].new.quantity`.
    private func faultyPath(_ path: String, of resource: ResourceRules) -> String? {
        guard let start = path.range(of: "changeset.")?.upperBound else { return nil }
        let names = path[start...].split(separator: ".").map(String.init)
        guard let first = names.first else { return nil }
        let parts = first.split(separator: "[")
        let index = parts.count > 1 ? Int(parts[1].dropLast()) ?? 0 : 0
        let own = rows.filter { $0.section == parts[0] }
        guard own.indices.contains(index), let section = resource.section(named: own[index].section) else { return nil }
        for name in names.dropFirst() {
            guard let group = section.group(name) ?? section.group(ofField: name) else { continue }
            if own[index].writtenGroups(section).contains(where: { $0.name == group.name }) {
                return own[index].path(of: group.name)
            }
        }
        return nil
    }
}
