import MergeCore
internal import Yams

/// Reads the access rules of roles.
extension RuleFileReader {
    mutating func readAccess(_ mapping: YAMLMapping) -> RuleAccess? {
        guard let roles = mapping.mapping("access", &findings) else { return nil }
        if roles.entries.isEmpty { findings.error(roles.place, "“access” names no role") }
        if roles.entries.count > AccessRules.maximumRoles {
            findings.error(roles.place, "“access” names at most \(AccessRules.maximumRoles) roles")
        }
        return RuleAccess(
            place: mapping.place(of: "access"), roles: roles.entries.compactMap { readRole($0.key, node: $0.value) })
    }

    private mutating func readRole(_ name: Placed<String>, node: Node) -> RuleRole? {
        guard let role = YAMLMapping(node, file: file, what: "role “\(name.value)”", &findings) else { return nil }
        role.refuseUnknown(["read", "write", "create", "delete", "rows", "set"], in: "a role", &findings)
        guard let read = readScope("read", in: role) else {
            if role["read"] == nil {
                findings.error(
                    name.place,
                    "role “\(name.value)” has no “read”; write “read: all” or a list of sections")
            }
            return nil
        }
        let creation = readCreation(role)
        return RuleRole(
            name: name, read: read, write: readScope("write", in: role), creates: creation.isAllowed,
            initial: creation.names, deletes: role.flag("delete", &findings) ?? false,
            rows: readConditions(role), namesRows: role["rows"] != nil, set: readClaims(role))
    }

    private mutating func readScope(_ key: String, in role: YAMLMapping) -> RuleScope? {
        guard let node = role[key] else { return nil }
        if node.scalar?.string == "all" { return .all }
        guard let sequence = node.sequence else {
            findings.error(node.place(in: file), "“\(key)” is “all”, or a list of sections and of SECTION.GROUP")
            return nil
        }
        return .names(sequence.compactMap { $0.name(in: file, "an entry of “\(key)”", &findings) })
    }

    /// Reads `true`, `false`, or the groups that only a creation may set.
    private mutating func readCreation(_ role: YAMLMapping) -> (isAllowed: Bool, names: [Placed<String>]) {
        guard let node = role["create"] else { return (false, []) }
        if let sequence = node.sequence {
            if sequence.isEmpty {
                findings.error(node.place(in: file), "“create” names no group; write true or false instead")
            }
            return (true, sequence.compactMap { $0.name(in: file, "an entry of “create”", &findings) })
        }
        guard let flag = node.bool else {
            findings.error(
                node.place(in: file),
                "“create” must be true, false, or a list of SECTION.GROUP that only a creation sets")
            return (false, [])
        }
        return (flag, [])
    }

    private mutating func readConditions(_ role: YAMLMapping) -> [RuleCondition] {
        if role["rows"]?.scalar?.string == "all" { return [] }
        guard let rows = role.mapping("rows", &findings) else { return [] }
        if rows.entries.isEmpty { findings.error(rows.place, "“rows” tests no column") }
        return rows.entries.compactMap { column, node in
            readTest(node, of: column.value).map { RuleCondition(column: column, test: $0) }
        }
    }

    private static let tests = ["claim", "value", "any", "not", "null", "before", "after"]

    private mutating func readTest(_ node: Node, of column: String) -> RuleTest? {
        let place = node.place(in: file)
        guard let test = YAMLMapping(node, file: file, what: "the test of column “\(column)”", &findings) else {
            return nil
        }
        test.refuseUnknown(Self.tests, in: "a test", &findings)
        guard test.entries.count == 1, let (key, value) = test.entries.first, Self.tests.contains(key.value) else {
            if test.entries.count != 1 {
                findings.error(place, "a test of a column is one of \(Self.tests.joined(separator: ", "))")
            }
            return nil
        }
        switch key.value {
        case "claim": return value.name(in: file, "“claim”", &findings).map { .claim($0) }
        case "value": return readConstant(value, of: "value").map { .value($0) }
        case "before": return readOperand(value, of: "before").map { .before($0) }
        case "after": return readOperand(value, of: "after").map { .after($0) }
        case "not": return readTest(value, of: column).map { .not($0) }
        case "any":
            guard let sequence = value.sequence, !sequence.isEmpty else {
                findings.error(key.place, "“any” is a list of tests")
                return nil
            }
            let tests = sequence.compactMap { readTest($0, of: column) }
            return tests.count == sequence.count ? .any(tests) : nil
        default:
            guard value.bool == true else {
                findings.error(key.place, "“null” is true; its opposite is “not: {null: true}”")
                return nil
            }
            return .null
        }
    }

    private mutating func readConstant(_ node: Node, of key: String) -> Placed<RuleConstant>? {
        guard let constant = RuleConstant(node) else {
            findings.error(node.place(in: file), "“\(key)” is a constant")
            return nil
        }
        return Placed(value: constant, place: node.place(in: file))
    }

    private mutating func readOperand(_ node: Node, of key: String) -> RuleOperand? {
        guard node.mapping != nil else { return readConstant(node, of: key).map { .value($0) } }
        guard let mapping = YAMLMapping(node, file: file, what: "“\(key)”", &findings) else { return nil }
        mapping.refuseUnknown(["claim", "value"], in: "“\(key)”", &findings)
        guard mapping.entries.count == 1 else {
            findings.error(mapping.place, "“\(key)” compares with a constant, or with {claim: NAME}")
            return nil
        }
        if let value = mapping["value"] { return readConstant(value, of: "value").map { .value($0) } }
        return mapping.text("claim", &findings).map { .claim($0) }
    }

    private mutating func readClaims(_ role: YAMLMapping) -> [RuleClaim] {
        guard let set = role.mapping("set", &findings) else { return [] }
        if set.entries.isEmpty { findings.error(set.place, "“set” names no column") }
        return set.entries.compactMap { column, node in
            guard let source = YAMLMapping(node, file: file, what: "what “\(column.value)” is set to", &findings) else {
                return nil
            }
            source.refuseUnknown(["claim"], in: "what a column is set to", &findings)
            guard let claim = source.text("claim", &findings) else {
                if source["claim"] == nil { findings.error(source.place, "write “{claim: NAME}”") }
                return nil
            }
            return RuleClaim(column: column, claim: claim)
        }
    }
}
