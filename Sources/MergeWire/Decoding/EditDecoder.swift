import MergeCore

struct EditDecoder {
    let resource: Resource
    let created: CreatedIDs
    let limits: WireLimits

    /// Reads an edit and adds its number of rows to `items`.
    func decode(_ node: JSONNode, _ path: WirePath, items: inout Int) throws(Problem) -> Edit {
        let place = path.member("changeset")
        guard let changeset = node["changeset"] else { throw Invalid.problem(place, "is missing") }
        let members = changeset.members
        for (name, _) in members where resource.section(named: name.string) == nil {
            throw Invalid.unknown(.section, named: name, at: place, among: resource.sections.map(\.name))
        }
        let root = resource.root
        guard root.keyCount > 0 else {
            throw Problem(
                .readOnly, detail: "The records of “\(resource.name)” have no key, so they cannot be written.",
                path: path.member("id")
            )
        }
        var rootAction: RowAction?
        var rootPlace = place
        if let node = changeset[root.name] {
            rootPlace = place.member(root.name)
            rootAction = try RowDecoder(section: root, created: created).decode(node, rootPlace)
        }
        let isCreation = if case .create? = rootAction { true } else { false }
        let id = try RowIDDecoder(resource: resource, section: root, created: created, row: path)
            .decode(node["id"], isCreation: isCreation, record: nil)
        var rows: [RowEdit] = []
        if let rootAction {
            items += 1
            rows.append(RowEdit(section: 0, id: id, action: rootAction, path: rootPlace))
        }
        for (name, value) in members {
            guard let index = resource.section(named: name.string), index > 0 else { continue }
            rows += try part(index, of: value, record: id, at: place.member(name.string), counting: &items)
        }
        guard items <= limits.items else { throw Invalid.tooMany("items", limit: limits.items, at: place) }
        return Edit(resource: resource, id: id, rows: rows, path: path)
    }

    private func part(
        _ index: Int, of node: JSONNode, record: RowID, at path: WirePath, counting items: inout Int
    ) throws(Problem) -> [RowEdit] {
        let section = resource.sections[index]
        let decoder = RowDecoder(section: section, created: created)
        guard section.kind == .list else {
            items += 1
            return try decoder.decode(node, path).map { [RowEdit(section: index, id: nil, action: $0, path: path)] }
                ?? []
        }
        guard node.isArray else { throw Invalid.problem(path, "must be an array of items, not \(node.scalar.kind)") }
        guard section.keyCount > 0 || node.count == 0 else {
            throw Problem(
                .readOnly, about: .section,
                detail: "The rows of “\(section.name)” have no key, so they cannot "
                    + "be written.",
                path: path)
        }
        items += node.count
        guard items <= limits.items else { throw Invalid.tooMany("items", limit: limits.items, at: path) }
        var rows: [RowEdit] = []
        var seen: Set<RowID> = []
        for (position, item) in node.elements.enumerated() {
            let place = path.element(position)
            let action = try decoder.decode(item, place)
            let isCreation = if case .create? = action { true } else { false }
            let id = try RowIDDecoder(resource: resource, section: section, created: created, row: place)
                .decode(item["id"], isCreation: isCreation, record: record)
            if id.key != nil, !seen.insert(id).inserted {
                throw Invalid.problem(place.member("id"), "names an item that is in the list already")
            }
            if let action { rows.append(RowEdit(section: index, id: id, action: action, path: place)) }
        }
        return rows
    }
}
