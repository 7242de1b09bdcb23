import GRDB

/// The purpose of a snapshot.
enum SnapshotKind: String, Sendable {
    /// All records, with the place in the changes.
    case snapshot
    /// The records of the resources that have another shape; the revision does not change.
    case reshape
}

/// The parameters of a snapshot.
struct SnapshotRequest: Sendable {
    /// The cursor of an interrupted snapshot; nil for the first record.
    var cursor: String?
    /// nil for all.
    var resources: [String]?
    /// null for all records.
    var filter: JSONValue
    /// nil for all records of the filter.
    var difference: SubsetDifference?

    /// The members of the query besides `resources`.
    var members: [(String, String)] {
        var members: [(String, String)] = []
        if !filter.isNull { members.append(("filter", filter.text)) }
        if let difference { members.append(("unless", difference.text)) }
        if let cursor { members.append(("after", cursor)) }
        return members
    }
}

/// The answer of a store to the first line of a snapshot.
enum SnapshotStart: Sendable {
    case stored
    /// The interrupted snapshot cannot continue: the next one begins at its first record.
    case other
    /// The rules of the snapshot differ from the rules that the client read before it.
    case otherRules
    /// The snapshot has another history: all records have to be read.
    case otherHistory
}

/// Records of resources whose shape has changed, stored part by part under the note `reshape`.
extension Ledger {
    /// Returns the request of a snapshot, which continues an interrupted one.
    func snapshotRequest(_ kind: SnapshotKind) throws -> SnapshotRequest {
        let note = try meta(kind.rawValue)
        guard kind == .reshape else { return try snapshotRequest(after: note) }
        var request = SnapshotRequest(resources: [], filter: try feedFilter())
        guard let new = try newRules() else { return request }
        if note["rules"] == .string(new.rules.version), let names = note["resources"].arrayValue {
            request.cursor = note["cursor"].stringValue
            request.resources = names.compactMap(\.stringValue)
        } else {
            request.resources = try staleResources(under: new.rules)
        }
        return request
    }

    private func snapshotRequest(after note: JSONValue) throws -> SnapshotRequest {
        let difference = try dueDifference()
        let wanted = try difference?.filter ?? meta("keep")
        var request = SnapshotRequest(resources: try self.wanted(), filter: wanted, difference: difference)
        guard !note.isNull, note["unless"].stringValue == difference?.text else { return request }
        request.cursor = note["cursor"].stringValue
        if let filter = note.objectValue?["filter"] { request.filter = filter }
        return request
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

    /// Activates the new rules without their records: the gateway has no snapshots any more.
    func skipReshape() throws {
        try checkLease()
        if let new = try newRules() { try putInForce(new.rules, text: new.text, claimsShapes: false) }
    }
}
