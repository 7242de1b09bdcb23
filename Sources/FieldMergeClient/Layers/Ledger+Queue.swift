import GRDB

/// One record's part of an edit of the app.
struct EditPart {
    let resource: ResourceRules
    let id: JSONValue
    let changes: RecordChanges
    var isBased = false
    /// The store has the base value of each edited group.
    var isCurrent = true

    var record: RecordPlace { RecordPlace(resource: resource.name, key: id.key) }
    var queued: QueuedPart { QueuedPart(resource: resource.name, id: id, changes: changes) }
}

/// One record's part of a push, whether the rules have its resource or not.
struct QueuedPart {
    let resource: String
    let id: JSONValue
    let changes: RecordChanges
}

/// The queue of pushes, and the tickets of their edits.
extension Ledger {
    /// Appends a push; returns its number.
    func append(_ parts: [QueuedPart], _ atomicity: Atomicity?) throws -> Int64 {
        try write(
            "INSERT INTO push (state, key, atomic, rules, at) VALUES (0, ?, ?, ?, ?)",
            [newKey(), atomicity?.rawValue, try rules()?.version, context.clock.now()])
        let push = db.lastInsertedRowID
        for (place, part) in parts.enumerated() {
            try write(
                "INSERT INTO edit VALUES (?, ?, ?, ?, ?, ?)",
                [push, place, part.resource, part.id.key, part.id.text, part.changes.text])
        }
        try noteCreations(push)
        return push
    }

    func replaceChanges(_ push: Int64, _ place: Int, with changes: RecordChanges) throws {
        if changes.isEmpty {
            try write("DELETE FROM edit WHERE push = ? AND place = ?", [push, place])
        } else {
            try write("UPDATE edit SET changes = ? WHERE push = ? AND place = ?", [changes.text, push, place])
        }
    }

    /// Returns the temporary ids that a push creates.
    func creations(_ push: Int64) throws -> [String] {
        try edits(of: push).flatMap { edit in
            // Of a resource that is gone, the row that no list has is taken for the record's own.
            let root = try known(edit.resource)?.root.name
            let own = root ?? edit.changes.rows.first { $0.isCreation && $0.item == nil }?.section
            return edit.changes.createdIDs(of: edit.id, root: own ?? "")
        }
    }

    func noteCreations(_ push: Int64) throws {
        try write("DELETE FROM creation WHERE push = ?", [push])
        let made = try creations(push)
        for temporary in made { try write("INSERT OR REPLACE INTO creation VALUES (?, ?)", [temporary, push]) }
        let list = JSONValue.array(made.map(JSONValue.string))
        try write("UPDATE push SET creates = ? WHERE seq = ?", [list.text, push])
    }

    /// Settles the tickets whose records have nothing left to send.
    func settleCancelled(_ push: Int64) throws {
        let held = Set(try edits(of: push).map(\.record))
        for ticket in try tickets("push = ? AND outcome IS NULL", [push])
        where !ticket.records.contains(where: held.contains) {
            try resolve(ticket.token, .merged(record: try first(ticket.records)))
        }
        if held.isEmpty { try dropIfEmpty(push) }
    }

    func dropIfEmpty(_ push: Int64) throws {
        guard try number("SELECT 1 FROM edit WHERE push = ?", [push]) == nil else { return }
        try write("DELETE FROM creation WHERE push = ?", [push])
        try write("DELETE FROM push WHERE seq = ?", [push])
        for ticket in try tickets("push = ? AND outcome IS NULL", [push]) {
            try resolve(ticket.token, .merged(record: try first(ticket.records)))
        }
    }

    /// Deletes settled pushes that no frozen bytes need any more.
    func dropKept() throws {
        let kept = try rows("SELECT seq, body, creates FROM push WHERE state = 2 ORDER BY seq DESC")
        guard !kept.isEmpty else { return }
        var sent = try rows("SELECT body FROM push WHERE state = 1").map { Self.text(of: $0[0]) }
        for row in kept {
            let made = JSONValue(text: row[2] as String)?.arrayValue ?? []
            let body = Self.text(of: row[1])
            if made.contains(where: { id in sent.contains { $0.contains(id.stringValue ?? "") } }) {
                sent.append(body)
            } else {
                try write("DELETE FROM push WHERE seq = ?", [row[0] as Int64])
            }
        }
    }

    /// The text of a body that may be kept as bytes or as text.
    static func text(of body: [UInt8]) -> String { String(decoding: body, as: UTF8.self) }

    private static func text(of value: DatabaseValue) -> String {
        switch value.storage {
        case .blob(let data): String(decoding: data, as: UTF8.self)
        case .string(let text): text
        default: ""
        }
    }

    // MARK: Tickets

    /// The ticket of an edit of the app.
    struct StoredTicket {
        let token: String
        let records: [RecordPlace]
    }

    func tickets(_ condition: String, _ arguments: StatementArguments) throws -> [StoredTicket] {
        try rows("SELECT token, records FROM ticket WHERE \(condition)", arguments).map { row in
            StoredTicket(token: row[0], records: try Self.places(row[1]).map(resolve))
        }
    }

    private func resolve(_ place: RecordPlace) throws -> RecordPlace {
        RecordPlace(resource: place.resource, key: try resolve(key: place.key))
    }

    static func places(_ text: String) -> [RecordPlace] {
        (JSONValue(text: text)?.arrayValue ?? []).map {
            RecordPlace(resource: $0[0].stringValue ?? "", key: IDText($0[1].stringValue ?? ""))
        }
    }

    static func text(of places: [RecordPlace]) -> String {
        JSONValue.array(places.map { [.string($0.resource), .string($0.key.string)] }).text
    }

    /// Stores the outcome of an edit.
    ///
    /// - Parameter push: the refused push that has it; nil if nothing of it is left.
    func resolve(_ token: String, _ outcome: StoredOutcome, push: Int64? = nil) throws {
        try write("UPDATE ticket SET outcome = ?, push = ? WHERE token = ?", [outcome.json.text, push, token])
        effects.hasOutcomes = true
    }

    func discardTickets(_ condition: String, _ arguments: StatementArguments = []) throws {
        for ticket in try tickets(condition, arguments) { try resolve(ticket.token, .discarded) }
    }

    func first(_ places: [RecordPlace]) throws -> JSONObject? {
        guard let place = places.first else { return nil }
        return try view(place.resource, id(of: place))
    }

    /// Returns the outcome of an edit; nil if it has none yet.
    func outcome(of token: String) throws -> StoredOutcome? {
        try text("SELECT outcome FROM ticket WHERE token = ?", [token]).flatMap { text in
            JSONValue(text: text).map(StoredOutcome.init)
        }
    }

    /// Returns the token of a ticket by its token, or of the latest ticket by the id of its record.
    func findTicket(_ wanted: JSONValue, resource: String?) throws -> String? {
        if let text = wanted.stringValue, let token = try self.text("SELECT token FROM ticket WHERE token = ?", [text])
        {
            return token
        }
        for key in Set([wanted.key, try resolve(wanted).key]) {
            for row in try rows("SELECT token, records FROM ticket WHERE key = ? ORDER BY seq DESC", [key])
            where resource == nil || Self.places(row[1]).first?.resource == resource {
                return row[0]
            }
        }
        return nil
    }

    /// Returns the id of a ticket's record, the real id if it is known.
    func ticketID(_ token: String) throws -> JSONValue {
        let told = try text("SELECT id FROM ticket WHERE token = ?", [token])
        return try told.flatMap { JSONValue(text: $0) }.map(resolve) ?? .null
    }
}

/// The outcome of an edit, as it is stored with its ticket.
package struct StoredOutcome: Sendable {
    /// The outcome as JSON.
    package let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    init(
        status: OutcomeStatus, conflicts: [JSONValue] = [], problem: JSONValue = .null, record: JSONValue = .null
    ) {
        json = [
            "status": .string(status.rawValue), "conflicts": .array(conflicts), "problem": problem, "record": record,
        ]
    }

    static func merged(record: JSONObject?) -> StoredOutcome {
        StoredOutcome(status: .merged, record: record.map(JSONValue.object) ?? .null)
    }

    static let discarded = StoredOutcome(status: .discarded)
}
