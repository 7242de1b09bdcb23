import GRDB

/// A page of changes.
struct ChangesPage: Sendable {
    let feed: String
    let revision: Int
    let hasMore: Bool
    let rules: String?
    let changes: [RecordLine]

    /// Reads a page; nil if the answer has another form.
    init?(_ told: JSONValue) {
        guard let feed = told["feed"].stringValue, let revision = told["revision"].intValue,
            let lines = told["changes"].arrayValue
        else { return nil }
        self.feed = feed
        self.revision = revision
        hasMore = told["more"] == true
        rules = told["rules"].stringValue
        changes = lines.compactMap(RecordLine.init)
        guard changes.count == lines.count else { return nil }
    }
}

/// A record of a page or a snapshot.
package struct RecordLine: Sendable {
    /// The name of its resource.
    package let resource: String
    /// Its id.
    package let id: JSONValue
    /// The record; nil if it was deleted.
    package let record: JSONObject?
    /// The reason why the server cannot read the record; nil if it can.
    package let problem: JSONValue?
    /// The client that changed it last; null if the gateway does not report one.
    package let author: JSONValue

    /// Reads a record; nil if the value has another form.
    package init?(_ told: JSONValue) {
        guard let members = told.objectValue, let resource = members["resource"]?.stringValue, let id = members["id"],
            let record = members["record"]
        else { return nil }
        self.resource = resource
        self.id = id
        self.record = record.objectValue
        author = members["by"] ?? .null
        problem = members["problem"]?.nonNull
        guard self.record != nil || record.isNull else { return nil }
    }
}

extension JSONObject {
    /// Returns the last base of a record that the server cannot read now, with the reason.
    func showing(_ problem: JSONValue) -> JSONObject {
        var record = self
        record["problem"] = problem
        return record
    }
}

/// Changes and snapshots, stored with their place.
extension Ledger {
    /// Stores a page of changes with its feed and revision; returns the number of changed records.
    ///
    /// - Parameter asked: the position in the request; if the store has another position, nothing is stored.
    func storePage(_ page: ChangesPage, asked: FeedPlace) throws -> Int {
        try checkLease()
        guard try feedPlace() == asked else { return 0 }
        try beginPull()
        var count = 0
        let parts = try partialResources()
        for change in page.changes where try !stays(change, among: parts) && take(change) { count += 1 }
        try endStays()
        try noteShapes(of: Set(page.changes.map(\.resource)), under: page.rules)
        try setMeta("feed", .string(page.feed))
        try setMeta("revision", .integer(Int128(page.revision)))
        try setMeta("lastSynced", .double(context.clock.now()))
        try storeClockOffset()
        try noteVersion(page.rules)
        try runHooks()
        return count
    }

    /// Counts pulls, so that a repeated answer replaces no record that was read since.
    func beginPull() throws {
        try setMeta("pulls", .integer(Int128(try count("pulls") + 1)))
        if try number("SELECT 1 FROM push WHERE state = 1 LIMIT 1") == nil { try write("DELETE FROM tombstone") }
    }

    private func noteVersion(_ version: String?) throws {
        if let version, try meta("rulesVersion").stringValue != version { try setMeta("rulesDue", true) }
    }

    private func take(_ line: RecordLine) throws -> Bool {
        guard context.keeps(line.resource) else { return false }
        let place = RecordPlace(resource: line.resource, key: line.id.key)
        let held = try base(place)
        let record = line.problem.map { held?.showing($0) } ?? line.record
        if held == record {
            if held != nil {
                try write(
                    "UPDATE base SET pulled = ? WHERE resource = ? AND key = ?",
                    [try count("pulls"), place.resource, place.key])
            }
            return false
        }
        guard try number("SELECT 1 FROM edit LIMIT 1") != nil else {
            try put(line.resource, id: line.id, record, before: held, isPulled: true)
            if record == nil, let held {
                try queue(.gone, ["resource": .string(line.resource), "id": held["id"] ?? line.id])
            }
            return true
        }
        let before = try seen(place)
        let was = try view(line.resource, line.id)
        try put(line.resource, id: line.id, record, before: was, isPulled: true)
        try refuseOthers(place, held: held, record: record)
        try rebase(place, before: before, tellsGone: true, was: was, by: line.author)
        return true
    }

    // MARK: Snapshots

    /// Notes that a snapshot of all records is being stored.
    ///
    /// - Parameters:
    ///   - filter: the filter of the snapshot; null for all records.
    ///   - difference: the difference that it is; nil for all records of the filter.
    func beginSnapshot(
        _ head: JSONValue, filter: JSONValue = .null, difference: SubsetDifference? = nil, goesOn: Bool
    ) throws -> SnapshotStart {
        try checkLease()
        if difference != nil, try !head["rules"].isNull && head["rules"] != meta("rulesVersion") {
            try setMeta("rulesDue", true)
            return .otherRules
        }
        if goesOn {
            var note = try meta("snapshot")
            let isSame = note["feed"] == head["feed"] && note["revision"] == head["revision"]
            // Records of two versions of the rules are records of none.
            if isSame, note["rules"] != head["rules"] { note["rules"] = "" }
            try setMeta("snapshot", isSame ? note : .null)
            return isSame ? .stored : .other
        }
        if difference == nil {
            try setMeta("reshape", .null)
            try setMeta("otherShapes", .null)
        } else {
            try setMeta("target", ["filter": filter])
        }
        try beginPull()
        try setMeta("generation", .integer(Int128(try count("generation") + 1)))
        var note: JSONValue = ["cursor": .null, "done": 0, "filter": filter]
        if let difference { note["unless"] = .string(difference.text) }
        for name in ["feed", "revision", "rules", "records"] { note[name] = head[name] }
        try setMeta("snapshot", note)
        // It is kept until all records of this feed are replaced, also if another snapshot begins before.
        if try meta("feed").isNull { try setMeta("feed", head["feed"]) }
        return .stored
    }

    /// Has the next snapshot begin at its first record.
    func forgetSnapshot(_ kind: SnapshotKind = .snapshot) throws {
        try checkLease()
        try setMeta(kind.rawValue, .null)
    }

    /// Returns the note of the snapshot that is being stored.
    ///
    /// - Throws: `ConnectionLost` if the snapshot has to begin again.
    private func runningSnapshot(_ kind: SnapshotKind) throws -> JSONValue {
        guard let note = try meta(kind.rawValue).nonNull else {
            throw ConnectionLost(reason: "the snapshot has to begin anew")
        }
        return note
    }

    /// Stores some records of a snapshot, and the cursor after them.
    func storePart(_ lines: [RecordLine], cursor: String?, of kind: SnapshotKind = .snapshot) throws {
        try checkLease()
        let generation = try count("generation")
        let parts = try partialResources()
        let isDifference = try !runningSnapshot(kind)["unless"].isNull
        for line in lines where try context.keeps(line.resource) && !stays(line, among: parts) {
            if isDifference, line.record == nil, parts.contains(line.resource) {
                // The app's own filter excludes it, so no event reports it.
                try lose(line.resource, line.id, tellsGone: false)
            } else if try !take(line) {
                try write(
                    "UPDATE base SET generation = ? WHERE resource = ? AND key = ?",
                    [generation, line.resource, line.id.key])
            }
        }
        var note = try runningSnapshot(kind)
        note["done"] = .integer(Int128((note["done"].intValue ?? 0) + lines.count))
        if let cursor { note["cursor"] = .string(cursor) }
        try setMeta(kind.rawValue, note)
        try runHooks()
    }

    /// Deletes some records that the snapshot does not contain; false if none was left.
    ///
    /// - Parameter resources: the resources of the snapshot; nil for all.
    func dropOld(limit: Int, of resources: [String]? = nil) throws -> Bool {
        try checkLease()
        let generation = try count("generation")
        let names = resources.map { JSONValue.array($0.map(JSONValue.string)).text }
        let old = try rows(
            "SELECT resource, key, id FROM base WHERE generation < ?1"
                + " AND (?2 IS NULL OR resource IN (SELECT value FROM json_each(?2))) ORDER BY resource, key LIMIT ?3",
            [generation, names, limit])
        let parts = try partialResources()
        for row in old {
            let place = RecordPlace(resource: row[0], key: row[1])
            let id = JSONValue(text: row[2] as String) ?? .null
            let stays = try parts.contains(place.resource) && stays(place.resource, id, isLost: true)
            guard context.keeps(place.resource), !stays else {
                try write(
                    "UPDATE base SET generation = ? WHERE resource = ? AND key = ?",
                    [generation, place.resource, place.key])
                continue
            }
            try lose(place.resource, id)
        }
        try runHooks()
        return !old.isEmpty
    }

    /// Stores feed and revision of a snapshot that is whole.
    func endSnapshot() throws {
        try checkLease()
        let note = try runningSnapshot(.snapshot)
        try setMeta("feed", note["feed"])
        try setMeta("revision", note["revision"])
        try setMeta("filter", note["filter"])
        try setMeta("target", .null)
        try setMeta("snapshot", .null)
        try setMeta("resnapshot", .null)
        try setMeta("lastSynced", .double(context.clock.now()))
        try storeClockOffset()
        try endStays()
        // A difference has records of the rules in force.
        guard note["unless"].isNull else { return try runHooks() }
        try storeShapes(version: note["rules"])
        try noteVersion(note["rules"].stringValue)
        try rebuild()
    }

    /// Stores the version of the rules for the shapes of all bases, and activates these rules if they wait for it.
    private func storeShapes(version: JSONValue) throws {
        try setMeta("shapes", .null)
        try setMeta("shapesOf", version)
        if let new = try newRules(), version == .string(new.rules.version) {
            try putInForce(new.rules, text: new.text)
        } else if let rules = try rules(), version == .string(rules.version) {
            try claimShapes(of: rules)
        }
    }
}
