import GRDB

/// The purpose of a snapshot.
enum SnapshotKind: String, Sendable {
    /// All records, with the place in the changes.
    case snapshot
    /// The records of the resources that have another shape; the place in the changes remains.
    case reshape
}

/// The answer of a store to the first line of a snapshot.
enum SnapshotStart: Sendable {
    case stored
    /// The snapshot that broke off cannot go on: the next one begins at its first record.
    case other
    /// The rules of the snapshot differ from the rules that the client read before it.
    case otherRules
    /// The snapshot has another history: all records have to be read.
    case otherHistory
}

/// Records of resources whose shape has changed, stored part by part under a note of their own: `reshape`.
extension Ledger {
    /// Returns where a snapshot goes on, and the resources to ask for; nil for all.
    func snapshotRequest(_ kind: SnapshotKind) throws -> (cursor: String?, resources: [String]?) {
        let note = try meta(kind.rawValue)
        guard kind == .reshape else { return (note["cursor"].stringValue, try wanted()) }
        guard let new = try newRules() else { return (nil, []) }
        if note["rules"] == .string(new.rules.version), let names = note["resources"].arrayValue {
            return (note["cursor"].stringValue, names.compactMap(\.stringValue))
        }
        return (nil, try staleResources(under: new.rules))
    }

    /// Notes that the records of resources are being replaced.
    func beginReshape(_ head: JSONValue, of resources: [String], goesOn: Bool) throws -> SnapshotStart {
        try checkLease()
        guard try head["feed"] == meta("feed") else {
            try setMeta("resnapshot", true)
            return .otherHistory
        }
        let version = try meta("newRulesVersion")
        guard head["rules"].isNull || head["rules"] == version else {
            try setMeta("rulesDue", true)
            return .otherRules
        }
        if goesOn {
            let note = try meta("reshape")
            if note["revision"] == head["revision"] { return .stored }
            try setMeta("reshape", .null)
            return .other
        }
        try beginPull()
        try setMeta("generation", .integer(Int128(try count("generation") + 1)))
        var shapes = try meta("shapes").objectValue ?? [:]
        for name in resources { shapes[name] = false }
        try setMeta("shapes", .object(shapes))
        var note: JSONValue = ["cursor": .null, "done": 0, "rules": version]
        for name in ["revision", "records"] { note[name] = head[name] }
        note["resources"] = .array(resources.map(JSONValue.string))
        try setMeta("reshape", note)
        return .stored
    }

    /// Puts the new rules in force: the records of all resources have their shapes.
    func endReshape() throws {
        try checkLease()
        guard let new = try newRules(), try meta("reshape")["rules"] == .string(new.rules.version) else { return }
        try putInForce(new.rules, text: new.text)
    }

    /// Puts the new rules in force without their records: the gateway has no snapshots any more.
    func skipReshape() throws {
        try checkLease()
        if let new = try newRules() { try putInForce(new.rules, text: new.text, claimsShapes: false) }
    }
}
