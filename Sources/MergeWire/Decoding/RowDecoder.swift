import MergeCore

/// Reads the change of one row, in group form or in row form.
struct RowDecoder {
    let section: Section
    private let fields: FieldDecoder

    private static let groupMembers = ["old", "new", "oldHash"]
    private static let id = ExactText("id")
    private static let sides = [ExactText("old"), ExactText("new")]

    init(section: Section, created: CreatedIDs) {
        self.section = section
        fields = FieldDecoder(section: section, created: created)
    }

    /// Reads the change of a row or item, or returns nil if it names no group.
    func decode(_ node: JSONNode, _ path: WirePath) throws(Problem) -> RowAction? {
        guard node.isObject else { throw Invalid.problem(path, "must be an object, not \(node.scalar.kind)") }
        var members = node.members
        if section.kind == .list { members.removeAll { $0.name == Self.id } }
        let isRow = members.contains { Self.groupMembers.containsExactly($0.name.string) }
        if isRow { return try rowForm(node, members: members, at: path) }
        var edits: [GroupEdit] = []
        edits.reserveCapacity(members.count)
        for (name, value) in members {
            let edit = try group(name, from: value, at: path)
            // A current and an earlier name may denote the same group.
            if edits.contains(where: { $0.group == edit.group }) { throw Invalid.twice(name, at: path) }
            edits.append(edit)
        }
        return edits.isEmpty ? nil : .edit(edits)
    }

    // MARK: Group form

    private func group(_ name: ExactText, from node: JSONNode, at path: WirePath) throws(Problem) -> GroupEdit {
        guard let index = section.group(named: name.string) else { throw unknownGroup(name, at: path) }
        let place = path.member(name.string)
        guard node.isObject else { throw Invalid.bareValue(node, at: place) }
        // Without `old`, `new` and `oldHash`, the object is a plain value.
        if let first = node.members.first, node["old"] == nil, node["new"] == nil, node["oldHash"] == nil {
            throw Invalid.bareFields(first.name, at: place)
        }
        try node.checkObject(place, known: Self.groupMembers)
        guard let new = node["new"] else { throw Invalid.problem(place.member("new"), "is missing") }
        let edited = try groupValues(index, from: new, at: place.member("new"))
        let base: Base
        switch (node["old"], node["oldHash"]) {
        case (.some, .some): throw Invalid.problem(place, "has “old” and “oldHash”, of which one is enough")
        case (.some(let old), nil): base = .values(try groupValues(index, from: old, at: place.member("old")))
        case (nil, .some(let hash)): base = .digest(try digest(hash, place.member("oldHash")))
        case (nil, nil): throw Invalid.problem(place.member("old"), "is missing")
        }
        // For a digest, only the row can show if a value is an echo.
        if case .values(let held) = base {
            try fields.checkWritable(edited, base: held) { field in
                section.groups[index].isBare
                    ? place.member("new") : place.member("new").member(section.fields[field].name)
            }
        }
        return GroupEdit(group: index, base: base, edited: edited, path: place, isRowForm: false)
    }

    private func unknownGroup(_ sent: ExactText, at path: WirePath) -> Problem {
        let name = sent.string
        if let field = section.field(named: name), let group = section.group(ofField: field) {
            return Problem(
                .unknownGroup,
                detail: "“\(name)” is a field of the group “\(section.groups[group].name)”, which must be sent "
                    + "completely.",
                path: path.member(name))
        }
        if section.readOnlyField(named: name) != nil {
            return Problem(
                .readOnly, about: .field, detail: "“\(name)” is read-only and part of no group.",
                path: path.member(name))
        }
        return Invalid.unknown(.group, named: sent, at: path, among: section.groups.map(\.name))
    }

    /// Reads a bare value for a group of one field, else an object with all fields of the group.
    private func groupValues(
        _ index: Int, from node: JSONNode, at path: @autoclosure () -> WirePath
    ) throws(Problem) -> FieldValues {
        let group = section.groups[index]
        // All edits of a group share one array of fields.
        var out = FieldValues(fields: group.positions, values: [])
        out.values.reserveCapacity(group.fields.count)
        if group.isBare, let field = group.fields.first {
            try fields.read(node, field: field, into: &out, path())
            return out
        }
        guard node.isObject else {
            throw Invalid.problem(path(), "must be an object with the fields of the group “\(group.name)”")
        }
        if node.count != group.fields.count { try checkNames(of: group, node, at: path()) }
        for field in group.fields {
            let name = section.fields[field].name
            guard let value = try value(of: section.fields[field], in: node, path()) else {
                try checkNames(of: group, node, at: path())
                throw missing(name, of: group, at: path())
            }
            try fields.read(value, field: field, into: &out, path().member(name))
        }
        return out
    }

    /// Returns the member for a field under its current or an earlier name.
    private func value(of field: Field, in node: JSONNode, _ path: @autoclosure () -> WirePath) throws(Problem)
        -> JSONNode?
    {
        let present = node[field.name]
        for name in field.formerly {
            guard let earlier = node[name] else { continue }
            if present != nil { throw Invalid.twice(ExactText(name), at: path()) }
            return earlier
        }
        return present
    }

    private func checkNames(of group: Group, _ node: JSONNode, at path: WirePath) throws(Problem) {
        let names = group.fields.map { section.fields[$0].name }
        for (name, _) in node.members {
            if let field = section.field(named: name.string), group.fields.contains(field) { continue }
            throw Invalid.unknown(.field, named: name, at: path, among: names)
        }
    }

    private func missing(_ field: String, of group: Group, at path: WirePath) -> Problem {
        Problem(
            .incompleteGroup,
            detail:
                "“\(path.member(field))” is missing. The group “\(group.name)” must be complete in “old” and in “new”.",
            path: path.member(field))
    }

    private func digest(_ node: JSONNode, _ path: WirePath) throws(Problem) -> [UInt8] {
        let wrong = Invalid.problem(path, "must be “sha256:” and 64 hexadecimal digits")
        guard let text = node.string, text.utf8.starts(with: "sha256:".utf8) else { throw wrong }
        let digits = Array(text.utf8.dropFirst(7))
        guard digits.count == 64 else { throw wrong }
        var out: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16),
                digits[index] != UInt8(ascii: "+")
            else { throw wrong }
            out.append(byte)
        }
        return out
    }

    // MARK: Row form

    private func rowForm(
        _ node: JSONNode, members: [(name: ExactText, value: JSONNode)], at path: WirePath
    ) throws(Problem) -> RowAction {
        if node["oldHash"] != nil {
            throw Invalid.problem(path.member("oldHash"), "is possible in group form only, inside its group")
        }
        for (name, _) in members where !Self.sides.contains(name) {
            throw Invalid.problem(
                path.member(name.string), "is next to “old” and “new”; send a row either in row form or in group form")
        }
        guard let old = node["old"] else { throw Invalid.problem(path.member("old"), "is missing") }
        guard let new = node["new"] else { throw Invalid.problem(path.member("new"), "is missing") }
        switch (old.isNull, new.isNull) {
        case (true, true): throw Invalid.problem(path, "has null as “old” and as “new”, which wants nothing")
        case (true, false): return .create(try creation(new, at: path.member("new")))
        case (false, true): return .delete(try deletion(old, at: path.member("old")))
        case (false, false): return .edit(try edit(old: old, new: new, at: path))
        }
    }

    private func row(_ node: JSONNode, at path: WirePath) throws(Problem) -> [Int: JSONNode] {
        guard node.isObject else { throw Invalid.problem(path, "must be an object of fields or null") }
        var out: [Int: JSONNode] = [:]
        for (name, value) in node.members {
            if let field = section.field(named: name.string) {
                if out[field] != nil { throw Invalid.twice(name, at: path) }
                out[field] = value
            } else if section.readOnlyField(named: name.string) == nil {
                if name == Self.id {
                    throw Invalid.problem(
                        path.member(name.string), "is not a field; the key is “id”, next to “old” and “new”")
                }
                throw Invalid.unknown(
                    .field, named: name, at: path, among: section.fields.map(\.name) + section.readOnly.map(\.name))
            }
        }
        return out
    }

    private func nodes(
        _ row: [Int: JSONNode], at path: WirePath, of wanted: some Sequence<Int>
    ) -> [(field: Int, node: JSONNode, path: WirePath)] {
        wanted.compactMap { field in
            row[field].map { (field, $0, path.member(section.fields[field].name)) }
        }
    }

    private func creation(_ node: JSONNode, at path: WirePath) throws(Problem) -> FieldValues {
        let row = try row(node, at: path)
        for (name, _) in node.members where section.readOnlyField(named: name.string) != nil {
            throw readOnly(name.string, at: path)
        }
        let values = try fields.values(nodes(row, at: path, of: section.fields.indices))
        try fields.checkWritable(values, base: nil) { path.member(section.fields[$0].name) }
        return values
    }

    private func deletion(_ node: JSONNode, at path: WirePath) throws(Problem) -> [GroupBase] {
        let row = try row(node, at: path)
        var bases: [GroupBase] = []
        for (index, group) in section.groups.enumerated() where group.fields.contains(where: { row[$0] != nil }) {
            for field in group.fields where row[field] == nil {
                throw missing(section.fields[field].name, of: group, at: path)
            }
            bases.append(GroupBase(group: index, base: try fields.values(nodes(row, at: path, of: group.fields))))
        }
        return bases
    }

    private func edit(old: JSONNode, new: JSONNode, at path: WirePath) throws(Problem) -> [GroupEdit] {
        let oldPath = path.member("old")
        let newPath = path.member("new")
        let before = try row(old, at: oldPath)
        let after = try row(new, at: newPath)
        try checkReadOnly(old: old, new: new, oldPath: oldPath, newPath: newPath)
        var edits: [GroupEdit] = []
        for (index, group) in section.groups.enumerated() {
            guard group.fields.contains(where: { before[$0] != nil || after[$0] != nil }) else { continue }
            for field in group.fields {
                let name = section.fields[field].name
                if before[field] == nil { throw missing(name, of: group, at: oldPath) }
                if after[field] == nil { throw missing(name, of: group, at: newPath) }
            }
            let base = try fields.values(nodes(before, at: oldPath, of: group.fields))
            let edited = try fields.values(nodes(after, at: newPath, of: group.fields))
            try fields.checkWritable(edited, base: base) { newPath.member(section.fields[$0].name) }
            edits.append(GroupEdit(group: index, base: .values(base), edited: edited, path: path, isRowForm: true))
        }
        return edits
    }

    private func readOnly(_ name: String, at path: WirePath) -> Problem {
        Problem(
            .readOnly, about: .field, detail: "“\(path.member(name))” is read-only. Leave it out.",
            path: path.member(name))
    }

    /// Refuses changes to read-only fields; clients that send whole rows send these fields unchanged.
    private func checkReadOnly(
        old: JSONNode, new: JSONNode, oldPath: WirePath, newPath: WirePath
    ) throws(Problem) {
        for field in section.readOnly {
            guard let after = new[field.name] else { continue }
            let column = section.columns[field.column]
            guard let before = old[field.name],
                try fields.value(before.scalar, of: column, at: oldPath.member(field.name))
                    == fields.value(after.scalar, of: column, at: newPath.member(field.name))
            else { throw readOnly(field.name, at: newPath) }
        }
    }
}
