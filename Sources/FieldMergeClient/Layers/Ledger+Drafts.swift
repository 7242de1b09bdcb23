import Foundation
import GRDB

/// An edit of one record by the app.
package struct Draft: Sendable {
    var edit: RecordEdit
    var isDeletion = false
    let rulesVersion: String
    /// Its `old` is the base value, also if the store has another value now.
    var isBased = false

    var changes: RecordChanges {
        RecordChanges(of: edit.resource, from: edit.before, to: isDeletion ? nil : edit.state)
    }
}

/// Edits of the app: added to the queue, joined to unsent pushes, and changed when they are overtaken.
extension Ledger {
    /// Stores an edit of the app with its ticket; returns the ticket's token.
    ///
    /// - Throws: `FieldMergeError.storeClosed` after a sign-out.
    func commit(_ drafts: [Draft], _ atomicity: Atomicity?) throws -> String {
        if try isSignedOut() { throw FieldMergeError.storeClosed }
        let parts = try drafts.map(prepared)
        let token = UUID().uuidString.lowercased()
        let number = try number("SELECT coalesce(max(seq), 0) + 1 FROM ticket") ?? 1
        let records = parts.map(\.record)
        let first = parts.first?.id ?? .null
        try write(
            "INSERT INTO ticket VALUES (?, ?, NULL, ?, ?, ?, NULL, ?)",
            [token, number, first.text, first.key, Self.text(of: records), context.clock.now()])
        let changed = parts.filter { !$0.changes.isEmpty }
        if changed.isEmpty {
            try resolve(token, .merged(record: try self.first(records)))
        } else {
            let missing = try missingCreation(of: changed)
            let joined = missing == nil ? try join(changed, atomicity: atomicity) : nil
            let push = try joined ?? append(changed.map(\.queued), atomicity)
            try write("UPDATE ticket SET push = ? WHERE token = ?", [push, token])
            if joined == nil, missing == nil, changed.contains(where: \.isBased) { try listOvertaken(push) }
            if let missing { try refuse(push, dependingOn: missing) }
            try settleCancelled(push)
        }
        effects.touched.formUnion(records)
        return token
    }

    private func prepared(_ draft: Draft) throws -> EditPart {
        let resource = try resource(draft.edit.resource.name)
        var draft = draft
        draft.edit.fill(from: try answered(draft.edit))
        var changes = draft.changes
        var ids: [String: JSONValue] = [:]
        for temporary in changes.usedIDs(with: draft.edit.id) { ids[temporary] = try resolve(.string(temporary)) }
        let id = draft.edit.id.mapped(ids)
        changes = changes.mapped(ids)
        if draft.isBased { try revive(resource.name, id, base: draft.edit.before) }
        let seen = try view(resource.name, id)
        let creates = changes.isCreation(of: resource)
        if seen == nil, !changes.isEmpty, !creates {
            throw FieldMergeError.recordNotFound(resource: resource.name, id: id)
        }
        if seen != nil, creates {
            throw InvalidEdit(path: "id", detail: "there is a record \(id) of \(resource.name) already")
        }
        let unknown = try unknownFields(of: resource, id.key)
        if try rules()?.version != draft.rulesVersion {
            changes = try changes.regrouped(for: resource, over: seen, unknown: unknown)
        }
        changes = changes.marked(unknown, of: resource)
        return EditPart(
            resource: resource, id: id, changes: changes, isBased: draft.isBased,
            isCurrent: !draft.isBased || changes.isSeen(in: seen, of: resource))
    }

    /// Adds an edit to the unsent push that holds all of its records; nil if there is none that may take it.
    private func join(_ parts: [EditPart], atomicity: Atomicity?) throws -> Int64? {
        guard parts.allSatisfy(\.isCurrent) else { return nil }
        guard let push = try parts.flatMap({ try pending($0.record) }).map(\.push).max(),
            let row = try row("SELECT state, atomic FROM push WHERE seq = ?", [push]),
            row[0] as Int == PushState.unsent.rawValue
        else { return nil }
        let pushAtomicity = (row[1] as String?).flatMap(Atomicity.init)
        guard pushAtomicity == atomicity || (atomicity == nil && parts.count == 1) else { return nil }
        let held = Dictionary(try edits(of: push).map { ($0.record, $0) }) { first, _ in first }
        for part in parts {
            guard held[part.record] != nil else { return nil }
            for temporary in part.changes.usedIDs(with: part.id) {
                // A later push creates it.
                let made = try number("SELECT push FROM creation WHERE temporary = ?", [temporary])
                if let made, made > push { return nil }
            }
        }
        var composed: [(StoredEdit, RecordChanges)] = []
        for part in parts {
            guard let edit = held[part.record],
                let joined = edit.changes.composed(with: part.changes, of: part.resource),
                try !dropsWhatIsUsed(edit, of: part.resource, joined: joined),
                try !cancelsOverOthers(edit, of: part.resource, joined: joined)
            else { return nil }
            composed.append((edit, joined))
        }
        guard try fits(push, composed: composed) else { return nil }
        for (edit, joined) in composed { try replaceChanges(push, edit.place, with: joined) }
        try noteCreations(push)
        return push
    }

    /// Returns true if a group would be omitted although the value beneath is not its first value.
    ///
    /// A cancelled sum adds nothing to any value.
    private func cancelsOverOthers(
        _ edit: StoredEdit, of resource: ResourceRules, joined: RecordChanges
    ) throws -> Bool {
        let below = try seen(edit.record, before: edit.push)
        for change in edit.changes.rows {
            let kept = joined.rows.first { $0.place == change.place }
            guard kept?.isDeletion != true, let section = resource.section(named: change.section),
                let row = change.row(of: below, isList: section.isList)
            else { continue }
            for (name, sides) in change.groups where kept?.groups[name] == nil {
                guard let group = section.group(name), group.merge != "add" else { continue }
                if !group.agrees(group.fields(of: row), sides.old) { return true }
            }
        }
        return false
    }

    /// Returns true if a row would never be created although another edit names its temporary id.
    private func dropsWhatIsUsed(
        _ edit: StoredEdit, of resource: ResourceRules, joined: RecordChanges
    ) throws -> Bool {
        let root = resource.root.name
        let kept = Set(joined.createdIDs(of: edit.id, root: root))
        for temporary in edit.changes.createdIDs(of: edit.id, root: root) where !kept.contains(temporary) {
            if joined.usedIDs(with: joined.isEmpty ? .null : edit.id).contains(temporary) { return true }
            let users = try number(
                "SELECT 1 FROM edit_use WHERE temporary = ? AND NOT (push = ? AND place = ?) LIMIT 1",
                [temporary, edit.push, edit.place])
            if users != nil { return true }
        }
        return false
    }

    private func fits(_ push: Int64, composed: [(StoredEdit, RecordChanges)]) throws -> Bool {
        guard let limits = try rules()?.limits else { return true }
        let joined = Dictionary(composed.map { ($0.0.place, $0.1) }) { first, _ in first }
        var rows = 0
        var size = 0
        for edit in try edits(of: push) {
            let changes = joined[edit.place] ?? edit.changes
            rows += changes.rows.count
            size += changes.text.utf8.count + 200
        }
        return rows <= limits.items && Double(size) <= Double(limits.body) * 0.8
    }

    // MARK: Overtaken drafts

    /// Makes the current value the `old` of a draft, or drops the drafts of the group; false if there are none.
    func redraft(_ told: JSONValue, keeps: Bool) throws -> Bool {
        let resource = try resource(told["resource"].stringValue ?? "")
        let section = try resource.section(told["section"].stringValue ?? "")
        let name = told["group"].stringValue ?? ""
        let record = RecordPlace(resource: resource.name, key: try resolve(told["id"]).key)
        let item = told["item"].isNull ? nil : try resolve(told["item"]).key
        var found = false
        let push = told["push"].intValue.map(Int64.init)
        let drafts = try pending(record)
        let after = try seen(record, before: push)
        // The event concerns this edit, not a later one.
        guard drafts.contains(where: { $0.push == push && $0.state == .unsent }) else { return false }
        var dropped: JSONObject?
        for edit in drafts where edit.state == .unsent && (keeps ? edit.push == push : edit.push >= push ?? 0) {
            var rows: [RowChange] = []
            var isLeft = false
            for var change in edit.changes.rows {
                guard change.section == section.name, change.item?.key == item, case .edit(var groups) = change.step,
                    let sides = groups.removeValue(forKey: name), let group = section.group(name)
                else {
                    rows.append(change)
                    continue
                }
                if keeps, let row = change.row(of: after, isList: section.isList) {
                    let current = group.fields(of: row)
                    let shown = group.spread(told["current"])
                    // Changes after the event are still undecided.
                    let isWhole = [shown.count, current.count].allSatisfy { $0 == group.fields.count }
                    let old = isWhole ? shown : current
                    change.unknown.subtract(group.fields.map(\.name))
                    change.unknown.formUnion(group.unknownFields(of: old))
                    if !group.holdsSame(old, sides.new) || !group.agrees(old, current) {
                        groups[name] = RowChange.GroupSides(old: old, new: sides.new)
                    }
                } else if keeps {
                    groups[name] = sides
                } else if edit.push == push || dropped.map({ group.agrees($0, sides.old) }) == true {
                    // A later edit with this value as its base is dropped too.
                    dropped = sides.new
                } else {
                    groups[name] = sides
                    isLeft = true
                }
                found = true
                if !groups.isEmpty { rows.append(change.with(.edit(groups)).trimmed(in: section)) }
            }
            let changes = RecordChanges(rows)
            if changes != edit.changes {
                try replaceChanges(edit.push, edit.place, with: changes)
                try settleCancelled(edit.push)
            }
            if keeps || isLeft { try listOvertaken(edit.push, section.name, item: item, group: name) }
        }
        effects.touched.insert(record)
        return found
    }

    /// Returns the value that cancels a sent edit and keeps the values of other clients; nil if the edit has and will have
    /// no effect.
    ///
    /// For a sum, it subtracts the edit's difference, which the server adds to any current value.
    func takingBack(_ told: JSONValue) throws -> JSONValue? {
        let resource = try resource(told["resource"].stringValue ?? "")
        let section = try resource.section(told["section"].stringValue ?? "")
        guard let group = section.group(told["group"].stringValue ?? ""), group.merge == "add" else {
            return told["current"]
        }
        let outcome = try told["ticket"].stringValue.flatMap(outcome)
        if let status = outcome?.json["status"], status != "merged" { return nil }
        let item = told["item"].isNull ? nil : try resolve(told["item"])
        let place = RowChange(section: section.name, item: item, step: .edit([:]))
        guard let row = place.row(of: try view(resource.name, told["id"]), isList: section.isList) else { return nil }
        let (old, new) = (group.spread(told["old"]), group.spread(told["new"]))
        let undone = group.decision(old: new, new: old, current: group.fields(of: row))
        guard let undone, undone.outcome == "combined" || undone.outcome == "applied" else { return told["current"] }
        return group.value(of: undone.written)
    }
}
