import Foundation
import GRDB

/// The kind of an entry in the list of conflicts.
public enum ConflictKind: String, Sendable, Hashable {
    /// The gateway met two edits.
    case conflict
    /// The group of an edit without an answer has changed meanwhile.
    case overtaken
}

/// The list of conflicts, with the content of the events of the same names.
extension Ledger {
    /// The maximum number of delivered entries; the oldest are deleted first.
    static let entriesKept = 1_000

    /// An entry of the list.
    struct ListedConflict: Sendable {
        let name: String
        let kind: ConflictKind
        let body: JSONValue
    }

    /// Returns the entries, the oldest first.
    func listedConflicts() throws -> [ListedConflict] { try listed("1 = 1", arguments: []) }

    /// Returns an entry; nil if it is not in the list any more.
    func listedConflict(_ name: String) throws -> ListedConflict? { try listed("name = ?", arguments: [name]).first }

    private func listed(_ condition: String, arguments: StatementArguments) throws -> [ListedConflict] {
        try rows("SELECT name, kind, body FROM conflict_entry WHERE \(condition) ORDER BY seq", arguments).map { row in
            ListedConflict(
                name: row[0], kind: ConflictKind(rawValue: row[1]) ?? .conflict,
                body: JSONValue(text: row[2] as String) ?? .null)
        }
    }

    /// Returns the conflicts of an edit's answer with their names: that of an overtaken entry of the group, or a new one.
    func named(_ conflicts: [JSONValue], of edit: StoredEdit) throws -> [JSONValue] {
        try conflicts.map { conflict in
            var named = conflict
            let place = Self.place(
                edit.record, section: conflict["section"], item: conflict["item"].nonNull, group: conflict["group"])
            let held = try text("SELECT name FROM conflict_entry WHERE push = ? AND place = ?", [edit.push, place])
            named["name"] = .string(held ?? UUID().uuidString.lowercased())
            return named
        }
    }

    /// Lists a conflict, instead of the overtaken entry of its name if there is one, and queues its event.
    func list(_ conflict: JSONValue) throws {
        let name = conflict["name"].stringValue ?? ""
        try write(
            "INSERT INTO conflict_entry (name, kind, body) VALUES (?1, 'conflict', ?2) ON CONFLICT (name)"
                + " DO UPDATE SET kind = 'conflict', push = NULL, place = NULL, body = ?2, delivered = 0",
            [name, conflict.text])
        try queue(.conflict, conflict)
    }

    /// Lists an overtaken group of an edit, or its new current value, and queues the event.
    func listOvertaken(_ body: JSONValue, of edit: StoredEdit) throws {
        let place = Self.place(edit.record, section: body["section"], item: body["item"].nonNull, group: body["group"])
        let held = try text("SELECT name FROM conflict_entry WHERE push = ? AND place = ?", [edit.push, place])
        var named = body
        named["resource"] = .string(edit.resource)
        named["id"] = edit.id
        named["push"] = .integer(Int128(edit.push))
        named["ticket"] = try ticket(of: edit).map(JSONValue.string) ?? .null
        named["name"] = .string(held ?? UUID().uuidString.lowercased())
        try write(
            "INSERT INTO conflict_entry (name, kind, push, place, body) VALUES (?, 'overtaken', ?, ?, ?)"
                + " ON CONFLICT (name) DO UPDATE SET body = excluded.body, delivered = 0",
            [named["name"].stringValue, edit.push, place, named.text])
        try queue(.overtaken, named)
    }

    /// Removes an entry from the list; returns false if it was not in the list.
    func unlist(_ name: String) throws -> Bool {
        guard try number("SELECT 1 FROM conflict_entry WHERE name = ?", [name]) != nil else { return false }
        try write("DELETE FROM conflict_entry WHERE name = ?", [name])
        effects.hasEvents = true
        return true
    }

    /// Removes overtaken entries whose edits were merged, refused or discarded.
    func unlistSettled() throws {
        for row in try rows("SELECT name, push, place, body FROM conflict_entry WHERE kind = 'overtaken'") {
            let (push, place): (Int64, String) = (row[1], row[2])
            let told = JSONValue(text: place) ?? .null
            let record = RecordPlace(resource: told[0].stringValue ?? "", key: IDText(told[1].stringValue ?? ""))
            let values = try pending(record).filter { $0.push >= push }.compactMap { edit in
                Self.newValues(at: place, in: edit).map { (edit.push, $0) }
            }
            guard let own = values.first, own.0 == push else {
                try write("DELETE FROM conflict_entry WHERE name = ?", [row[0] as String])
                continue
            }
            // Before it is sent, a later edit may change its value.
            guard try state(of: push) == .unsent, var body = JSONValue(text: row[3] as String),
                let section = try known(record.resource)?.section(named: told[2].stringValue ?? ""),
                let new = section.group(told[4].stringValue ?? "")?.value(of: own.1), new != body["new"]
            else { continue }
            body["new"] = new
            try write("UPDATE conflict_entry SET body = ? WHERE name = ?", [body.text, row[0] as String])
        }
    }

    private static func newValues(at place: String, in edit: StoredEdit) -> JSONObject? {
        for change in edit.changes.rows {
            for (name, sides) in change.groups
            where self.place(edit.record, section: .string(change.section), item: change.item, group: .string(name))
                == place
            {
                return sides.new
            }
        }
        return nil
    }

    /// Notes that the events of a kind were handled, and limits the number of such entries.
    func noteDelivered(_ kind: EventKind, through number: Int64) throws {
        guard kind == .conflict || kind == .overtaken else { return }
        try write(
            "UPDATE conflict_entry SET delivered = 1 WHERE name IN"
                + " (SELECT json_extract(body, '$.name') FROM event WHERE kind = ? AND seq <= ? AND owner = ?)",
            [kind.rawValue, number, context.owner])
        try write(
            "DELETE FROM conflict_entry WHERE delivered = 1 AND seq <= (SELECT seq FROM conflict_entry WHERE delivered = 1"
                + " ORDER BY seq DESC LIMIT 1 OFFSET ?)", [Self.entriesKept])
    }

    private static func place(
        _ record: RecordPlace, section: JSONValue, item: JSONValue?, group: JSONValue
    ) -> String {
        let parts: [JSONValue] = [
            .string(record.resource), .string(record.key.string), section, item.map { .string($0.key.string) } ?? .null,
            group,
        ]
        return JSONValue.array(parts).text
    }
}

// MARK: Decisions

extension Ledger {
    /// Removes an entry from the list and makes its edit; returns the edit's ticket, nil if there is nothing to do.
    ///
    /// - Parameters:
    ///   - isMine: true for this user's value, false for the other one.
    ///   - shown: the entry as the app has it, which may be older.
    func decide(_ name: String, isMine: Bool, shown: JSONValue) throws -> String? {
        guard let entry = try listedConflict(name), try unlist(name) else { return nil }
        if entry.kind == .overtaken {
            var body = entry.body
            if shown["push"] == body["push"] { body["current"] = shown["current"] }
            return try decide(overtaken: body, isMine: isMine)
        }
        return try isMine ? takeMine(entry.body) : takeTheirs(entry.body)
    }

    /// Changes an overtaken edit, or makes another edit if it was sent meanwhile.
    func decide(overtaken body: JSONValue, isMine: Bool) throws -> String? {
        if try redraft(body, keeps: isMine) { return nil }
        guard let value = try isMine ? body["new"] : takingBack(body) else { return nil }
        return try commit(value, into: body)
    }

    /// Makes the losing edit of a conflict once more.
    func takeMine(_ body: JSONValue) throws -> String? {
        if !body["group"].isNull { return try commit(body["new"], into: body) }
        let isRefused = body["outcome"] == "refused"
        if body["outcome"] == "kept" || (isRefused && body["new"].isNull) { return try deleteRow(of: body) }
        guard isRefused || body["outcome"] == "missing", let values = body["new"].objectValue else { return nil }
        return try createRow(of: body, (body["old"].objectValue ?? [:]).merging(values) { _, new in new })
    }

    /// Writes the other value of a conflict, unless the database has it.
    private func takeTheirs(_ body: JSONValue) throws -> String? {
        guard body["written"] != body["current"] else { return nil }
        if !body["group"].isNull { return try takingBack(body).flatMap { try commit($0, into: body) } }
        guard let values = body["current"].objectValue else { return try deleteRow(of: body) }
        return body["written"].isNull ? try createRow(of: body, values) : nil
    }

    /// Makes an edit of the group that an entry names.
    func commit(_ value: JSONValue, into body: JSONValue) throws -> String? {
        let (section, group) = (body["section"].stringValue ?? "", body["group"].stringValue ?? "")
        let item = try body["item"].nonNull.map(resolve)
        return try commitEdit(body) { record in
            guard let item else {
                record[section, group] = value
                return
            }
            let items = record[section].arrayValue ?? []
            if let index = items.firstIndex(where: { $0["id"].key == item.key }) {
                record[section, index, group] = value
            } else {
                record[section].append(value.objectValue == nil ? [group: value] : value)
            }
        }
    }

    private func deleteRow(of body: JSONValue) throws -> String? {
        let name = body["section"].stringValue ?? ""
        let item = try body["item"].nonNull.map(resolve)
        if try resource(body["resource"].stringValue ?? "").root.name == name {
            return try commitOwn { try $0.delete(body["resource"].stringValue ?? "", body["id"]) }
        }
        return try commitEdit(body) { record in
            if let item {
                record[name].removeAll { $0["id"].key == item.key }
            } else {
                record[name] = .null
            }
        }
    }

    private func createRow(of body: JSONValue, _ values: JSONObject) throws -> String? {
        let known = try resource(body["resource"].stringValue ?? "")
        let section = try known.section(body["section"].stringValue ?? "")
        if section.name == known.root.name {
            return try commitOwn { transaction in
                try transaction.create(known.name, id: section.isGenerated ? nil : body["id"]) { record in
                    record[section.name] = .object(values)
                }
            }
        }
        return try commitEdit(body) { record in
            guard section.isList else {
                record[section.name] = .object(values)
                return
            }
            var row = values
            row["id"] = section.isGenerated ? nil : body["item"]
            record[section.name].append(.object(row))
        }
    }

    private func commitEdit(_ body: JSONValue, _ change: (inout RecordEdit) throws -> Void) throws -> String? {
        try commitOwn { try $0.edit(body["resource"].stringValue ?? "", body["id"], change) }
    }

    private func commitOwn(_ change: (FieldMergeTransaction) throws -> Void) throws -> String? {
        guard let rules = try rules() else { throw FieldMergeError.rulesUnknown }
        let transaction = FieldMergeTransaction(over: .ledger(self), rules: rules)
        try change(transaction)
        return try commit(transaction.drafts(), nil)
    }
}
