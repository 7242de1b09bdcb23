import MergeCore
internal import Yams

/// Reads the keys about merging rows and groups.
extension RuleFileReader {
    /// Reads one word, `{latest: FIELD}`, or `{json: MEMBER}` with the member that identifies array items.
    mutating func readMerge(_ mapping: YAMLMapping) -> Placed<RuleMerge>? {
        guard let node = mapping["merge"] else { return nil }
        guard node.mapping != nil else {
            if node.scalar?.string.isExactly("latest") == true {
                findings.error(
                    node.place(in: file), "“merge: latest” needs the field of the time; write “merge: {latest: FIELD}”")
                return nil
            }
            return mapping.choice("merge", of: PlainMerge.self, findings: &findings).map {
                Placed(value: .plain($0.value), place: $0.place)
            }
        }
        guard let named = mapping.mapping("merge", &findings) else { return nil }
        named.refuseUnknown(["latest", "json"], in: "“merge”", &findings)
        let place = mapping.place(of: "merge")
        guard named.entries.count == 1 else {
            findings.error(named.place, "“merge” names one function")
            return nil
        }
        if let field = named.text("latest", &findings) { return Placed(value: .latest(field: field), place: place) }
        return named.text("json", &findings).map { Placed(value: .json(itemKey: $0.value), place: place) }
    }

    /// Reads a mapping of values to lists of their allowed next values.
    mutating func readTransitions(_ mapping: YAMLMapping) -> Placed<[RuleTransition]>? {
        guard let node = mapping["transitions"] else { return nil }
        let place = mapping.place(of: "transitions")
        guard let steps = node.mapping else {
            findings.error(place, "“transitions” is a mapping of values to lists of the values that may follow them")
            return nil
        }
        var transitions: [RuleTransition] = []
        for (key, value) in steps {
            guard let from = RuleConstant(key), let followers = value.sequence else {
                findings.error(
                    key.place(in: file), "“transitions” maps a value to a list of the values that may follow it")
                continue
            }
            let to = followers.compactMap { node -> Placed<RuleConstant>? in
                guard let constant = RuleConstant(node) else {
                    findings.error(node.place(in: file), "a value that may follow another is a constant")
                    return nil
                }
                return Placed(value: constant, place: node.place(in: file))
            }
            transitions.append(RuleTransition(from: Placed(value: from, place: key.place(in: file)), to: to))
        }
        if transitions.isEmpty { findings.error(place, "“transitions” names no value") }
        return Placed(value: transitions, place: place)
    }

    mutating func readDelete(_ mapping: YAMLMapping) -> RuleDelete? {
        guard let delete = mapping.mapping("delete", &findings) else { return nil }
        delete.refuseUnknown(["set"], in: "“delete”", &findings)
        guard delete["set"] != nil else {
            findings.error(delete.place, "“delete” sets nothing; write “delete: {set: {COLUMN: SQL}}”")
            return nil
        }
        guard let set = delete.mapping("set", &findings) else { return nil }
        if set.entries.isEmpty { findings.error(set.place, "“set” names no column") }
        let assignments = set.entries.compactMap { column, value in
            value.name(in: file, "what column “\(column.value)” is set to", &findings).map {
                RuleAssignment(column: column, sql: $0)
            }
        }
        return RuleDelete(place: mapping.place(of: "delete"), assignments: assignments)
    }

    mutating func readChecks(_ mapping: YAMLMapping) -> [RuleCheck] {
        var checks: [RuleCheck] = []
        for check in mapping.mappings("checks", what: "a check", &findings) {
            check.refuseUnknown(["name", "sql", "fields", "on-failure"], in: "a check", &findings)
            for key in ["name", "sql"] where check[key] == nil {
                findings.error(check.place, "a check has no “\(key)”")
            }
            let policy = check.choice("on-failure", of: CheckFailurePolicy.self, findings: &findings)
            let fields = check.names("fields", &findings)
            guard let name = check.text("name", &findings), let sql = check.text("sql", &findings) else { continue }
            if let twin = checks.first(where: { $0.name.value == name.value }) {
                findings.error(
                    name.place, "the section has a check “\(name.value)” already, in line \(twin.name.place.line)")
            }
            checks.append(RuleCheck(name: name, sql: sql, fields: fields, onFailure: policy?.value ?? .reject))
        }
        return checks
    }
}
