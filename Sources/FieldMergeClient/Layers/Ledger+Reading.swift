import GRDB

extension Ledger {
    // MARK: Ids

    /// Returns the real id of a temporary id, if it is known.
    func resolve(_ id: JSONValue) throws -> JSONValue {
        if case .array(let parts) = id { return .array(try parts.map(resolve)) }
        guard let temporary = id.temporaryID else { return id }
        let real = try text("SELECT real FROM mapping WHERE temporary = ?", [temporary])
        return real.flatMap { JSONValue(text: $0) } ?? id
    }

    /// Returns the key with real ids instead of temporary ids.
    func resolve(key: IDText) throws -> IDText {
        IDText(parts: try key.parts.map { try resolve(.string($0)).key.string })
    }

    func id(of place: RecordPlace) throws -> JSONValue {
        let told = try text("SELECT id FROM base WHERE resource = ? AND key = ?", [place.resource, place.key])
        if let id = told.flatMap({ JSONValue(text: $0) }) { return id }
        let parts = place.key.parts
        return parts.count > 1 ? .array(parts.map { .string($0) }) : .string(place.key.string)
    }

    // MARK: Records

    /// Returns a record as an app reads it: base, sent and draft.
    func view(_ resource: String, _ id: JSONValue) throws -> JSONObject? {
        let resolved = try resolve(id)
        let place = RecordPlace(resource: resource, key: resolved.key)
        return try view(of: base(place), in: resource, id: resolved, under: pending(place))
    }

    /// Returns a record for the app; nil if there is none.
    func record(_ resource: String, _ id: JSONValue) throws -> Record? {
        guard let record = try view(resource, id) else { return nil }
        guard let known = try known(resource) else { return Record(record) }
        return Record(record, known, unknown: try unknownFields(of: known, resolve(id).key))
    }

    /// Returns an edit that changes nothing yet; nil if the record does not exist.
    func edit(of resource: ResourceRules, _ id: JSONValue) throws -> RecordEdit? {
        try record(resource.name, id).map {
            RecordEdit(resource, id: try resolve(id), before: $0.members, unknown: $0.unknown)
        }
    }

    /// Returns the base of a record: the record as the gateway last sent it.
    func base(_ place: RecordPlace) throws -> JSONObject? {
        let told = try text("SELECT record FROM base WHERE resource = ? AND key = ?", [place.resource, place.key])
        return told.flatMap { JSONValue(text: $0)?.objectValue }
    }

    /// Returns a record with edits over it.
    func view(
        of record: JSONObject?, in resource: String, id: JSONValue, under edits: [StoredEdit]
    ) throws -> JSONObject? {
        guard !edits.isEmpty, let known = try known(resource) else { return record }
        return edits.reduce(record) { $1.changes.applied(to: $0, id: id, of: known) }
    }

    /// Returns the record below the drafts: base and sent, or everything before a push.
    func seen(_ place: RecordPlace, before push: Int64? = nil) throws -> JSONObject? {
        let below = try pending(place).filter { edit in push.map { edit.push < $0 } ?? (edit.state == .sent) }
        return try view(of: base(place), in: place.resource, id: .null, under: below)
    }

    /// Returns every record of a resource for the app, in the order of keys.
    func all(_ resource: String) throws -> [Record] {
        let known = try known(resource)
        var found: [IDText: Record] = [:]
        for row in try rows("SELECT key, record FROM base WHERE resource = ?", [resource]) {
            found[row[0]] = JSONValue(text: row[1] as String)?.objectValue.map { Record($0, known) }
        }
        for (key, record) in try editedRecords(resource) { found[key] = record }
        return found.values.sorted { JSONValue.precedes($0.id, $1.id) }
    }

    // MARK: Edits

    /// Returns the edits of a record that have no answer yet, in their order.
    func pending(_ place: RecordPlace) throws -> [StoredEdit] {
        try edits("e.resource = ? AND e.key = ? AND p.state IN (0, 1)", [place.resource, place.key])
    }

    /// Returns the edits of a push.
    func edits(of push: Int64) throws -> [StoredEdit] { try edits("e.push = ?", [push]) }

    /// Returns the pushes without an answer that name a temporary id, in their order.
    func pushes(using temporary: String) throws -> [Int64] {
        try rows(
            "SELECT DISTINCT u.push FROM edit_use u JOIN push p ON p.seq = u.push"
                + " WHERE u.temporary = ? AND p.state IN (0, 1) ORDER BY u.push", [temporary]
        ).map { $0[0] }
    }

    func edits(_ condition: String, _ arguments: StatementArguments) throws -> [StoredEdit] {
        let found = try rows(
            "SELECT e.push, e.place, p.state, e.resource, e.key, e.id, e.changes FROM edit e"
                + " JOIN push p ON p.seq = e.push WHERE \(condition) ORDER BY e.push, e.place", arguments)
        return try found.map { row in
            guard let state = PushState(rawValue: row[2]), let id = JSONValue(text: row[5] as String),
                let changes = RecordChanges(text: row[6])
            else { throw FieldMergeError.wrongStore("an edit in the store cannot be read") }
            return StoredEdit(
                push: row[0], place: row[1], state: state, resource: row[3], key: row[4], id: id, changes: changes)
        }
    }

    func state(of push: Int64) throws -> PushState? {
        try number("SELECT state FROM push WHERE seq = ?", [push]).flatMap { PushState(rawValue: Int($0)) }
    }

    // MARK: Counts and places

    /// Returns how many edits have no answer yet, and how many pushes are refused.
    func counts() throws -> (unsent: Int, refused: Int) {
        let unsent = try number(
            "SELECT count(*) FROM edit e JOIN push p ON p.seq = e.push WHERE p.state IN (0, 1)")
        return (Int(unsent ?? 0), Int(try number("SELECT count(*) FROM push WHERE state = 3") ?? 0))
    }

    /// Returns a number that grows with each edit of the app, whichever process makes it.
    func editCount() throws -> Int { Int(try number("SELECT coalesce(max(seq), 0) FROM ticket") ?? 0) }

    /// Returns feed and revision up to which everything is stored; nil before the first sync.
    func feedPlace() throws -> FeedPlace? {
        guard let feed = try meta("feed").stringValue, let revision = try meta("revision").intValue else { return nil }
        return FeedPlace(feed: feed, revision: revision)
    }

    /// Returns the state of a part of a record: all of it, a section, an item, a group.
    func state(_ resource: String, _ id: JSONValue, path: EditPath) throws -> EditState {
        let key = try resolve(id).key
        let item = try path.item.map { try resolve($0).key }
        let edits = try edits("e.resource = ? AND e.key = ? AND p.state <> 2", [resource, key])
        let states = Set(
            edits.filter { $0.changes.rows.contains { path.concerns($0, item: item) } }.map(\.state))
        if states.contains(.unsent) { return .draft }
        if states.contains(.sent) { return .sending }
        return states.contains(.refused) ? .refused : .clean
    }
}

/// A place in the history of the server.
package struct FeedPlace: Sendable, Hashable {
    /// The id of the history.
    package let feed: String
    /// Everything up to this revision is stored.
    package let revision: Int

    /// Returns the members of a request for the changes after the place.
    ///
    /// - Parameter filter: the filter of the feed; null for all records.
    func members(filter: JSONValue) -> [(String, String)] {
        let members = [("feed", feed), ("since", "\(revision)")]
        return filter.isNull ? members : members + [("filter", filter.text)]
    }
}

/// A request for changes along with pushes.
struct ChangesRequest: Sendable {
    let place: FeedPlace
    /// nil for all.
    let resources: [String]?
    /// The filter of the feed; null for all records.
    let filter: JSONValue
}

/// A part of a record: all of it, a section, an item, a group.
struct EditPath: Sendable {
    var section: String?
    var item: JSONValue?
    var group: String?

    /// - Parameter item: the key of the item, its temporary id resolved.
    func concerns(_ change: RowChange, item key: IDText?) -> Bool {
        guard let section else { return true }
        guard change.section == section, key == nil || change.item?.key == key else { return false }
        guard let group, case .edit(let groups) = change.step else { return true }
        return groups[group] != nil
    }
}

extension Ledger {
    /// Calls a function with each base as text, in sequence.
    func eachBase(_ body: (_ resource: String, _ id: String, _ record: String) throws -> Void) throws {
        let cursor = try Row.fetchCursor(db, sql: "SELECT resource, id, record FROM base")
        while let row = try cursor.next() { try body(row[0], row[1], row[2]) }
    }
}
