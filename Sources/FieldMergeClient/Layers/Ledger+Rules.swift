import GRDB

/// The active rules, and later rules that wait for the records of their shapes.
///
/// - `rules`, `rulesVersion`: the rules by which records are read, edited and sent.
/// - `newRules`, `newRulesVersion`: rules under which a kept resource has another shape than its bases. Nothing is built or
///   sent before they are active.
/// - `shapes`: the shape of the bases of each resource; false if its bases have two.
/// - `otherShapes`: by versions of inactive rules, the resources with records that were read under them.
/// - `shapesOf`: the version of the rules that a snapshot was made by, if those rules are not known yet.
extension Ledger {
    /// Stores rules that the gateway sent, and activates them unless records of another shape have to be fetched.
    func storeRules(_ rules: Rules, text: String) throws {
        try checkLease()
        try setMeta("rulesDue", .null)
        try mixShapes(under: rules.version)
        if try meta("shapesOf") == .string(rules.version) { try claimShapes(of: rules) }
        if try feedPlace() == nil || staleResources(under: rules).isEmpty {
            return try putInForce(rules, text: text)
        }
        try setMeta("newRules", .string(text))
        try setMeta("newRulesVersion", .string(rules.version))
    }

    /// Replaces the active rules by the gateway's rules, and groups unsent edits by them.
    ///
    /// - Parameter claimsShapes: false if bases of another shape remain.
    func putInForce(_ rules: Rules, text: String, claimsShapes: Bool = true) throws {
        try setMeta("rules", .string(text))
        try setMeta("rulesVersion", .string(rules.version))
        effects.concernsAll = true
        for name in ["newRules", "newRulesVersion", "reshape"] { try setMeta(name, .null) }
        context.forgetRules()
        if claimsShapes, try feedPlace() != nil { try claimShapes(of: rules) }
        try regroup()
        try dropRemoved(under: rules)
    }

    /// Returns whether the gateway's rules differ from the active rules.
    func awaitsRules() throws -> Bool { try !(meta("rulesDue").isNull && meta("newRules").isNull) }

    /// Returns the rules that wait for records; nil if there are none.
    func newRules() throws -> (rules: Rules, text: String)? {
        guard let text = try meta("newRules").stringValue, let rules = Rules(text: text) else { return nil }
        return (rules, text)
    }

    /// Returns the kept resources of the active rules; nil for all.
    func wanted() throws -> [String]? {
        guard let kept = context.resources, let rules = try rules() else { return context.resources }
        return kept.filter { rules.resources[$0] != nil }
    }

    /// Returns the kept resources whose bases have another shape.
    func staleResources(under rules: Rules) throws -> [String] {
        let shapes = try meta("shapes").objectValue ?? [:]
        return rules.resources.values.filter { resource in
            context.keeps(resource.name) && shapes[resource.name] ?? "" != .string(resource.shape)
        }.map(\.name).sorted()
    }

    /// Stores that all bases have the shapes of these rules.
    func claimShapes(of rules: Rules) throws {
        var shapes: JSONObject = [:]
        for resource in rules.resources.values where context.keeps(resource.name) {
            shapes[resource.name] = .string(resource.shape)
        }
        try setMeta("shapes", .object(shapes))
        try setMeta("shapesOf", .null)
        if let others = try meta("otherShapes").objectValue?.filter({ $0.key != rules.version }) {
            try setMeta("otherShapes", others.isEmpty ? .null : .object(others))
        }
    }

    /// Notes that records of resources were read under a version of the rules, in which their shape may differ.
    func noteShapes(of resources: Set<String>, under version: String?) throws {
        guard let version, try meta("rulesVersion").stringValue != version else { return }
        var others = try meta("otherShapes").objectValue ?? [:]
        let held = Set(others[version]?.arrayValue?.compactMap(\.stringValue) ?? [])
        let names = held.union(resources.filter(context.keeps))
        guard names != held else { return }
        others[version] = .array(names.sorted().map(JSONValue.string))
        try setMeta("otherShapes", .object(others))
    }

    /// Requests resources again if some of their records were read under a version that is neither active nor the next.
    private func mixShapes(under version: String) throws {
        guard let others = try meta("otherShapes").objectValue, var shapes = try meta("shapes").objectValue else {
            return
        }
        let names = others.filter { $0.key != version }.values.flatMap { $0.arrayValue ?? [] }.compactMap(\.stringValue)
        guard !names.isEmpty else { return }
        for name in names { shapes[name] = false }
        try setMeta("shapes", .object(shapes))
    }

    private func dropRemoved(under rules: Rules) throws {
        for row in try rows("SELECT DISTINCT resource FROM base") where rules.resources[row[0]] == nil {
            let resource: String = row[0]
            try write("DELETE FROM base WHERE resource = ?", [resource])
            effects.touched.insert(RecordPlace(resource: resource, key: IDText("")))
        }
    }

    // MARK: Edits

    /// Builds the pushes again that were made under other rules and are not sent yet.
    func regroup() throws {
        guard let rules = try rules() else { return }
        let stale = try rows("SELECT seq FROM push WHERE state = 0 AND rules IS NOT ? ORDER BY seq", [rules.version])
        for row in stale where try state(of: row[0]) == .unsent { try regroup(row[0], rules) }
    }

    private func regroup(_ push: Int64, _ rules: Rules) throws {
        let edits = try edits(of: push)
        var regrouped: [RecordChanges] = []
        for (index, edit) in edits.enumerated() {
            do {
                regrouped.append(try self.regrouped(edit, rules))
            } catch let error as InvalidEdit {
                let problem = ProblemDocument.make(
                    "field-removed", status: 409, title: "The rules have changed", detail: error.description)
                return try refuse(push, problem, fault: index)
            }
        }
        for (edit, changes) in zip(edits, regrouped) { try replaceChanges(push, edit.place, with: changes) }
        try write("UPDATE push SET rules = ? WHERE seq = ?", [rules.version, push])
        effects.touched.formUnion(edits.map(\.record))
        try settleCancelled(push)
    }

    private func regrouped(_ edit: StoredEdit, _ rules: Rules) throws -> RecordChanges {
        let resource = try rules.resource(edit.resource)
        let seen = try seen(edit.record, before: edit.push)
        let under = try pending(edit.record).filter { $0.push < edit.push }.map(\.changes)
        let unknown = UnknownFields(of: under, base: try base(edit.record), resource: resource)
        return try edit.changes.regrouped(for: resource, over: seen, unknown: unknown)
    }
}
