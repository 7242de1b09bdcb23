import MergeCore
import RecordStore

/// Binds the access rules of a resource to its sections; `NameCheck` has checked their names.
struct AccessBinder {
    let rules: RuleAccess
    let sections: [Section]
    let table: TableSchema
    private(set) var findings = Findings()

    init(_ rules: RuleAccess, sections: [Section], table: TableSchema) {
        self.rules = rules
        self.sections = sections
        self.table = table
    }

    mutating func bind() -> AccessRules {
        let roles = rules.roles.map { role in
            let reads = rights(role.read)
            let writes = role.write.map { rights($0) } ?? sections.map { .none(of: $0) }
            if case .names(let names)? = role.write { checkWrites(names, of: role, reads: reads) }
            checkWrites(role.initial, of: role, reads: reads)
            let initial = rights(.names(role.initial))
            adviseOnCreation(role, writes: writes)
            let bound = RoleRule(
                name: ExactText(role.name.value), rule: role.name.place.rule, reads: reads, writes: writes,
                creates: role.creates, initial: initial, deletes: role.deletes, conditions: conditions(role),
                sets: sets(role))
            advise(role, bound: bound)
            return bound
        }
        return AccessRules(roles: roles, root: sections[0])
    }

    // MARK: Sections and groups

    private func rights(_ scope: RuleScope) -> [SectionRights] {
        guard case .names(let names) = scope else { return sections.map { .all(of: $0) } }
        var fields = sections.map { $0.shown.map { _ in false } }
        var isGiven = sections.map { _ in false }
        for name in names {
            guard let (section, positions) = place(name) else { continue }
            isGiven[section] = true
            for position in positions { fields[section][position] = true }
        }
        return zip(isGiven, fields).map { SectionRights(isGiven: $0, fields: $1) }
    }

    /// Returns the section that a name denotes, and the positions of its fields in `shown`; nil for an unknown name.
    private func place(_ name: Placed<String>) -> (section: Int, fields: [Int])? {
        if let section = sections.firstIndex(where: { $0.name == name.value }) {
            return (section, Array(sections[section].shown.indices))
        }
        for (position, section) in sections.enumerated() where name.value.hasPrefix(section.name + ".") {
            let part = String(name.value.dropFirst(section.name.count + 1))
            if let group = section.group(named: part) { return (position, section.groups[group].positions) }
            if let field = section.readOnlyField(named: part) { return (position, [section.fields.count + field]) }
            return nil
        }
        return nil
    }

    private mutating func checkWrites(_ names: [Placed<String>], of role: RuleRole, reads: [SectionRights]) {
        for name in names {
            guard let (section, positions) = place(name) else { continue }
            if positions.count == 1, positions[0] >= sections[section].fields.count,
                name.value != sections[section].name
            {
                findings.error(name.place, "“\(name.value)” is read-only and cannot be written")
            }
            let isRead = reads[section].isGiven && positions.allSatisfy { reads[section].fields[$0] }
            if !isRead {
                findings.warning(
                    name.place,
                    "role “\(role.name.value)” does not read all of “\(name.value)”, and what is not read is "
                        + "not written")
            }
        }
    }

    /// Warns of an entry of `create` that the role writes at any time.
    private mutating func adviseOnCreation(_ role: RuleRole, writes: [SectionRights]) {
        for name in role.initial {
            guard let (section, fields) = place(name), !fields.isEmpty else { continue }
            guard writes[section].isGiven, fields.allSatisfy({ writes[section].fields[$0] }) else { continue }
            findings.warning(
                name.place,
                "role “\(role.name.value)” may write “\(name.value)” at any time; leave it out of “create” or of “write”"
            )
        }
    }

    // MARK: Rows

    private mutating func conditions(_ role: RuleRole) -> [RowCondition] {
        if sections[0].keyCount == 0, let first = role.rows.first {
            findings.error(first.column.place, "the root's rows have no key, so a role sees all of them or none")
        }
        return role.rows.compactMap { condition in
            guard let column = tested(condition.column) else { return nil }
            return test(condition.test, of: sections[0].columns[column]).map { RowCondition(column: column, test: $0) }
        }
    }

    /// Returns the position of a column of the root's table, or of the row to which one of its columns refers.
    private mutating func tested(_ name: Placed<String>) -> Int? {
        guard let path = ReferredColumn(name, from: table),
            let position = sections[0].columns.firstIndex(where: { path.names($0) })
        else { return column(name) }
        return position
    }

    private mutating func column(_ name: Placed<String>) -> Int? {
        let own = sections[0].columns.firstIndex { $0.name == name.value && $0.lookup == nil }
        if let own { return own }
        if let path = ReferredColumn(name, from: table), table.column(path.along) != nil {
            findings.error(
                name.place,
                "a role cannot set “\(name.value)”, a column of the row to which “\(path.along)” refers; name a column "
                    + "of table “\(table.name)”")
            return nil
        }
        findings.error(
            name.place,
            "the root's table “\(table.name)” has no column “\(name.value)”"
                + nearest(name.value, table.columns.map(\.name)))
        return nil
    }

    private mutating func test(_ test: RuleTest, of column: Column) -> ConditionTest? {
        switch test {
        case .value(let constant): return value(constant, of: column).map { .value($0) }
        case .claim(let name):
            guard column.isComparedWithClaims else {
                findings.error(
                    name.place,
                    "column “\(column.name)” is of type \(column.type.name), which no condition compares with a claim")
                return nil
            }
            return .claim(name.value)
        case .null: return .null
        case .not(let denied): return self.test(denied, of: column).map { .not($0) }
        case .any(let tests):
            let bound = tests.compactMap { self.test($0, of: column) }
            return bound.count == tests.count ? .any(bound) : nil
        case .before(let operand): return self.operand(operand, of: column).map { .before($0) }
        case .after(let operand): return self.operand(operand, of: column).map { .after($0) }
        }
    }

    private mutating func operand(_ operand: RuleOperand, of column: Column) -> ConditionOperand? {
        switch operand {
        case .value(let constant):
            if !column.type.isOrdered {
                findings.error(constant.place, "values of column “\(column.name)” have no order")
                return nil
            }
            return value(constant, of: column).map { .value($0) }
        case .claim(let name):
            if !column.type.isOrdered {
                findings.error(name.place, "values of column “\(column.name)” have no order")
                return nil
            }
            return .claim(name.value)
        }
    }

    private mutating func value(_ constant: Placed<RuleConstant>, of column: Column) -> Value? {
        if let value = constant.value.value(in: column.type) { return value }
        findings.error(
            constant.place,
            "column “\(column.name)” is of type \(column.type.name) and cannot store “\(constant.value.text)”")
        return nil
    }

    // MARK: Claims

    private mutating func sets(_ role: RuleRole) -> [ClaimAssignment] {
        role.set.compactMap { claim in
            guard let position = column(claim.column) else { return nil }
            if let owned = table.column(claim.column.value)?.serverOwned {
                findings.error(
                    claim.column.place, "column “\(claim.column.value)” cannot be written, because \(owned)")
            } else if position < sections[0].keyCount {
                findings.error(claim.column.place, "column “\(claim.column.value)” is the key, which comes from “id”")
            }
            return ClaimAssignment(column: position, claim: claim.claim.value)
        }
    }

    // MARK: Advice

    private mutating func advise(_ role: RuleRole, bound: RoleRule) {
        if !role.namesRows {
            findings.note(
                role.name.place,
                "role “\(role.name.value)” has no “rows”, so it sees every row; write “rows: all” if that is meant")
        }
        let root = sections[0]
        for condition in role.rows {
            let path = ReferredColumn(condition.column, from: table)
            let name = path?.along ?? condition.column.value
            guard let position = root.columns.firstIndex(where: { $0.name == name && $0.lookup == nil }) else {
                continue
            }
            if !table.isIndexed(by: name) {
                findings.warning(
                    condition.column.place,
                    "no index of table “\(table.name)” begins with column “\(name)”, by which role “\(role.name.value)” is "
                        + "shown its rows")
            }
            // The row after the write must be one of the role's rows.
            if path != nil { continue }
            let isSet = bound.sets.contains { $0.column == position }
            let isWritten = root.fields.enumerated().contains { $1.column == position && bound.writes[0].fields[$0] }
            if isWritten, !isSet {
                findings.warning(
                    condition.column.place,
                    "role “\(role.name.value)” may write column “\(name)”, by which it is shown its rows; “set” would take "
                        + "it from a claim")
            }
        }
    }
}

extension Column {
    /// False for columns of referred rows whose values have no form in the feed's history.
    fileprivate var isComparedWithClaims: Bool {
        guard lookup != nil else { return true }
        return switch type {
        case .json, .wellKnownText, .inet4, .inet6: false
        default: true
        }
    }
}
