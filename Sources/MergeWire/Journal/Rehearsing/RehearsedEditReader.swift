import MergeCore

/// Reads outcomes of the journal in the types and groups of some rules.
struct RehearsedEditReader {
    let section: Section
    let position: Int
    let rules: UnjudgedReason.RuleSet

    private static let path = WirePath("")

    /// Reads the outcome of a group.
    ///
    /// - Parameters:
    ///   - own: The fields of the outcome.
    ///   - all: The fields of all groups of the row in the entry.
    func groupEdit(_ own: [RowParts.Part], among all: [RowParts.Part]) throws(UnjudgedReason) -> RehearsedEdit {
        var fields: [Int] = []
        for part in own { fields.append(try field(part.name)) }
        var known: [Int: RowParts.Part] = [:]
        for part in all + own {
            if let field = section.field(named: part.name) { known[field] = part }
        }
        var row = [Value](repeating: .null, count: section.columns.count)
        var edits: [GroupEdit] = []
        var created = FieldValues.none
        var mayHaveBase = true
        var mayHaveNone = true
        for index in touched(fields) {
            let group = section.groups[index]
            var parts: [RowParts.Part] = []
            for field in group.fields {
                guard let part = known[field] else { throw incomplete(group) }
                parts.append(part)
                row[section.fields[field].column] = try value(part.current, field: field)
            }
            let edited = try values(parts.map(\.new), group.positions)
            created.fields += edited.fields
            created.values += edited.values
            let base = try base(parts, fields: group.positions)
            let isNull = zip(parts, group.positions).contains { part, field in
                part.old?.isNull == true && !section.columns[section.fields[field].column].isNullable
            }
            if isNull || parts.contains(where: \.hasNoBase) { mayHaveBase = false }
            if parts.contains(where: { $0.old?.isNull != true }) { mayHaveNone = false }
            edits.append(GroupEdit(group: index, base: base, edited: edited, path: Self.path, isRowForm: false))
        }
        // A bare NULL may be the value of a base, or the base of a client that created the row.
        var actions: [RehearsedEdit.Reading: RowAction] = [:]
        if mayHaveBase { actions[.withBase] = .edit(edits) }
        if mayHaveNone { actions[.withoutBase] = .create(created) }
        if actions.isEmpty { throw .unexplained }
        return RehearsedEdit(section: position, fields: fields, actions: actions, states: [.present(row)])
    }

    /// Reads the outcome of a whole row.
    func rowEdit(_ row: RowOutcome) throws(UnjudgedReason) -> RehearsedEdit {
        let action: RowAction
        switch row.change {
        case .create(let new):
            let known = try members(new, hiding: row.hidden)
            let fields = known.keys.sorted()
            action = .create(FieldValues(fields: fields, values: fields.compactMap { known[$0] }))
        case .edit(let old, let new):
            let (base, edited) = (try members(old, hiding: row.hidden), try members(new, hiding: row.hidden))
            var edits: [GroupEdit] = []
            for index in touched(Array(edited.keys)) {
                let fields = section.groups[index].positions
                // The client sent a hash if the entry has no base.
                let base = fieldValues(base, fields: fields).map { Base.values($0) } ?? .digest([])
                guard let edited = fieldValues(edited, fields: fields) else { throw incomplete(section.groups[index]) }
                edits.append(GroupEdit(group: index, base: base, edited: edited, path: Self.path, isRowForm: false))
            }
            action = .edit(edits)
        case .delete(let old):
            let base = try members(old, hiding: row.hidden)
            var bases: [GroupBase] = []
            for index in touched(Array(base.keys)) {
                guard let base = fieldValues(base, fields: section.groups[index].positions) else {
                    throw incomplete(section.groups[index])
                }
                bases.append(GroupBase(group: index, base: base))
            }
            action = .delete(bases)
        }
        return RehearsedEdit(
            section: position, fields: [], actions: [.withBase: action], states: try states(row, action: action))
    }

    private func states(_ row: RowOutcome, action: RowAction) throws(UnjudgedReason) -> [RehearsedEdit.RowState] {
        guard let current = row.current else { return row.missingStates(in: section) }
        guard case .delete(let bases) = action else { throw .unexplained }
        var values = [Value](repeating: .null, count: section.columns.count)
        for field in bases.flatMap(\.base.fields) {
            guard let node = current.member(of: section.fields[field]) else { throw .unreadable }
            values[section.fields[field].column] = try value(node, field: field)
        }
        return [.present(values)]
    }

    // MARK: Values

    private func field(_ name: String) throws(UnjudgedReason) -> Int {
        guard let field = section.field(named: name) else {
            throw .missing("field “\(section.name).\(name)” that clients write", rules)
        }
        return field
    }

    private func incomplete(_ group: Group) -> UnjudgedReason {
        .incompleteGroup(section.name + "." + group.name, rules)
    }

    private func touched(_ fields: [Int]) -> [Int] {
        section.groups.indices.filter { fields.contains(where: section.groups[$0].fields.contains) }
    }

    private func value(_ node: JSONNode, field: Int) throws(UnjudgedReason) -> Value {
        guard let value = EntryReader.value(node, section.columns[section.fields[field].column]) else {
            throw .unreadable
        }
        return value
    }

    private func values(_ nodes: [JSONNode], _ fields: [Int]) throws(UnjudgedReason) -> FieldValues {
        var values: [Value] = []
        for (node, field) in zip(nodes, fields) { values.append(try value(node, field: field)) }
        return FieldValues(fields: fields, values: values)
    }

    private func base(_ parts: [RowParts.Part], fields: [Int]) throws(UnjudgedReason) -> Base {
        let bases = parts.compactMap(\.old)
        if bases.count == parts.count { return .values(try values(bases, fields)) }
        // A hash is that of a whole group. The names of its members are part of a hash.
        guard let hash = parts.first?.oldHash, parts.allSatisfy({ $0.oldHash == hash && $0.count == parts.count }),
            parts.count == 1 || zip(parts, fields).allSatisfy({ $0.name == section.fields[$1].name })
        else { throw .hashedBase }
        return .digest(hash)
    }

    private func members(_ node: JSONNode, hiding hidden: Set<String>) throws(UnjudgedReason) -> [Int: Value] {
        var values: [Int: Value] = [:]
        for (name, node) in node.members {
            if hidden.contains(name.string) { throw .isPrivate }
            let field = try field(name.string)
            values[field] = try value(node, field: field)
        }
        return values
    }

    private func fieldValues(_ known: [Int: Value], fields: [Int]) -> FieldValues? {
        let values = fields.compactMap { known[$0] }
        return values.count == fields.count ? FieldValues(fields: fields, values: values) : nil
    }
}
