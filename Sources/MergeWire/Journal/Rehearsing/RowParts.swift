import MergeCore

/// The decided fields of an entry by row.
///
/// Other rules may combine the fields of several outcomes in one group.
struct RowParts {
    /// One field of a group's outcome.
    struct Part {
        /// The name of the field in the active rules.
        let name: String
        /// The base; nil if the client sent its hash, and JSON null if the client may have had none.
        let old: JSONNode?
        let current: JSONNode
        let new: JSONNode
        /// The hash of the base of the whole group.
        let oldHash: [UInt8]?
        /// The number of fields in the outcome.
        let count: Int
        /// True if the client had no base.
        let hasNoBase: Bool
    }

    private var rows: [String: [JSONNode]] = [:]
    private let resource: Resource
    /// True if an outcome shows a row of the record.
    let showRecord: Bool
    /// True if the edit restored the missing record, false if it did not; nil if the record was not missing.
    let wasRestored: Bool?

    init(_ outcomes: [JSONNode], of resource: Resource) {
        self.resource = resource
        showRecord = outcomes.contains { outcome in
            outcome["current"].map { !$0.isNull } == true
                || ["inserted", "restored"].contains(outcome["outcome"]?.string)
        }
        let root = outcomes.first { $0["section"]?.isText(resource.root.name) == true && $0["group"] == nil }
        wasRestored =
            root?["old"]?.isObject == true && root?["current"]?.isNull == true
            ? root?["outcome"]?.isText("restored") : nil
        for outcome in outcomes where outcome["group"] != nil { rows[Self.row(outcome), default: []].append(outcome) }
    }

    private static func row(_ outcome: JSONNode) -> String {
        (outcome["section"]?.string ?? "") + "\n" + (outcome["id"]?.text ?? "")
    }

    /// Returns the readable fields of all groups of an outcome's row.
    func parts(beside outcome: JSONNode) throws(UnjudgedReason) -> [Part] {
        guard let section = resource.section(named: outcome["section"]?.string ?? "") else { return [] }
        return (rows[Self.row(outcome)] ?? []).flatMap { outcome in
            (try? Self.parts(of: outcome, in: resource.sections[section])) ?? []
        }
    }

    /// Returns the fields of a group's outcome.
    ///
    /// - Parameter section: The section in the active rules.
    static func parts(of outcome: JSONNode, in section: Section) throws(UnjudgedReason) -> [Part] {
        let name = outcome["group"]?.string ?? ""
        if outcome["unlogged"] != nil { throw .foreignChange }
        if outcome["private"] != nil { throw .isPrivate }
        if outcome["erased"] != nil { throw .isErased }
        guard let group = section.group(named: name).map({ section.groups[$0] }) else {
            throw .missing("group “\(section.name).\(name)”", .active)
        }
        guard let current = outcome["current"], let new = outcome["new"] else { throw .unreadable }
        let hash = outcome["oldHash"]?.string.flatMap { Hex.decode($0.dropFirst("sha256:".count)) }
        let old = outcome["old"]
        if old == nil, hash == nil { throw .unreadable }
        if group.isBare {
            let field = section.fields[group.fields.lowerBound]
            return [
                Part(
                    name: field.name, old: old, current: current, new: new, oldHash: hash, count: 1, hasNoBase: false)
            ]
        }
        let hasNoBase = old?.isNull == true
        var parts: [Part] = []
        for field in section.fields[group.fields] {
            let base = hasNoBase ? old : old?.member(of: field)
            guard let current = current.member(of: field), let new = new.member(of: field),
                base != nil || hash != nil
            else { throw .incompleteGroup(section.name + "." + group.name, .active) }
            parts.append(
                Part(
                    name: field.name, old: base, current: current, new: new, oldHash: hash, count: group.fields.count,
                    hasNoBase: hasNoBase))
        }
        return parts
    }
}

extension JSONNode {
    /// Returns the member of a field under its current name or an earlier one.
    func member(of field: Field) -> JSONNode? { self[field.name] ?? field.formerly.lazy.compactMap { self[$0] }.first }
}
