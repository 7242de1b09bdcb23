import Synchronization
import GRDB

/// New bases, and their effect on drafts.
extension Ledger {
    /// Stores a record from the gateway; nil deletes it.
    func put(
        _ resource: String, id: JSONValue, _ record: JSONObject?, before: JSONObject?, isPulled: Bool = false
    ) throws {
        effects.touched.insert(RecordPlace(resource: resource, key: id.key))
        if !context.hooks.withLock(\.isEmpty) {
            incoming.append(IncomingRecord(resource: resource, id: id, before: before, after: record))
        }
        let pulls = isPulled ? try count("pulls") : 0
        guard let record else {
            try write("DELETE FROM base WHERE resource = ? AND key = ?", [resource, id.key])
            if isPulled { try write("INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?)", [resource, id.key, pulls]) }
            return
        }
        try write(
            "INSERT OR REPLACE INTO base VALUES (?, ?, ?, ?, ?, ?)",
            [
                resource, id.key, (record["id"] ?? id).text, JSONValue.object(record).text, try count("generation"),
                pulls,
            ])
    }

    /// Stores a record of a resource that is not kept, because it is to be edited.
    func visit(_ resource: String, _ record: JSONObject) throws {
        guard let id = record["id"], try pending(RecordPlace(resource: resource, key: id.key)).isEmpty else { return }
        try put(resource, id: id, record, before: nil)
        incoming = []
    }

    /// Lists the drafts that a new base has overtaken, and refuses drafts of a deleted record.
    ///
    /// - Parameters:
    ///   - before: the record beneath the drafts, as it was.
    ///   - was: the record as the app read it, if the gateway reports that it is gone.
    ///   - author: the client that changed it, if the gateway reports it.
    func rebase(
        _ place: RecordPlace, before: JSONObject?, tellsGone: Bool = false, was: JSONObject? = nil,
        by author: JSONValue = .null
    ) throws {
        guard let known = try known(place.resource) else { return }
        let drafts = try pending(place).filter { $0.state == .unsent }
        let after = try seen(place)
        if after == nil, before != nil, try base(place) == nil {
            return try refuseDrafts(drafts, of: known, was: tellsGone ? was : nil)
        }
        var told: Set<IDText> = []
        for draft in drafts {
            for change in draft.changes.rows {
                guard case .edit(let groups) = change.step, let section = known.section(named: change.section) else {
                    continue
                }
                for group in section.groups {
                    // An unknown value cannot be overtaken.
                    guard let sides = groups[group.name],
                        change.unknown.isDisjoint(with: group.fields.map(\.name)),
                        told.insert(IDText(parts: [change.section, change.item?.key.string ?? "", group.name]))
                            .inserted,
                        let one = change.row(of: before, isList: section.isList),
                        let other = change.row(of: after, isList: section.isList)
                    else { continue }
                    let current = group.fields(of: other)
                    guard !group.agrees(group.fields(of: one), current), !group.agrees(current, sides.old) else {
                        continue
                    }
                    let latest = drafts.flatMap(\.changes.rows).filter { $0.place == change.place }
                        .compactMap { $0.groups[group.name]?.new }.last
                    let shown = RowChange.GroupSides(old: sides.old, new: latest ?? sides.new)
                    var body = group.overtaken(shown, by: current, at: change)
                    body["by"] = author
                    try listOvertaken(body, of: draft)
                }
            }
        }
    }

    /// Lists one group of an edit if its `old` is not what the app reads without it.
    func listOvertaken(_ push: Int64, _ section: String, item: IDText?, group: String) throws {
        try listOvertaken(push) { $0.section == section && $0.item?.key == item && $1 == group }
    }

    /// Lists the groups of an edit whose `old` is not what the app reads without it.
    ///
    /// - Parameter isMeant: returns whether a group of a row counts.
    func listOvertaken(_ push: Int64, where isMeant: (RowChange, String) -> Bool = { _, _ in true }) throws {
        for draft in try edits(of: push) {
            guard let known = try known(draft.resource) else { continue }
            let seen = try seen(draft.record, before: push)
            for change in draft.changes.rows {
                guard let section = known.section(named: change.section),
                    let row = change.row(of: seen, isList: section.isList)
                else { continue }
                for group in section.groups where isMeant(change, group.name) {
                    guard let sides = change.groups[group.name], !group.agrees(group.fields(of: row), sides.old) else {
                        continue
                    }
                    try listOvertaken(group.overtaken(sides, by: group.fields(of: row), at: change), of: draft)
                }
            }
        }
    }

    func ticket(of draft: StoredEdit) throws -> String? {
        try tickets("push = ? AND outcome IS NULL", [draft.push]).last { $0.records.contains(draft.record) }?.token
    }

    private func refuseDrafts(_ drafts: [StoredEdit], of known: ResourceRules, was: JSONObject?) throws {
        var isDrafted = false
        for draft in drafts {
            guard try state(of: draft.push) == .unsent else { continue }
            if draft.changes.isCreation(of: known) { break }
            if draft.changes.isDeletion(of: known) {
                try write("DELETE FROM edit WHERE push = ? AND place = ?", [draft.push, draft.place])
                try settleCancelled(draft.push)
                continue
            }
            if !isDrafted { try queue(.gone, ["resource": .string(known.name), "id": draft.id]) }
            isDrafted = true
            let problem = ProblemDocument.make(
                "gone", status: 410, title: "Gone", detail: "The record \(draft.id) of \(known.name) is gone.")
            let index = try edits(of: draft.push).firstIndex { $0.place == draft.place }
            try refuse(draft.push, problem, fault: index ?? 0)
        }
        if !isDrafted, let was {
            try queue(.gone, ["resource": .string(known.name), "id": was["id"] ?? .null])
        }
    }
}

extension GroupRules {
    /// Returns the members of an overtaken event that concern the group.
    func overtaken(_ sides: RowChange.GroupSides, by current: JSONObject, at change: RowChange) -> JSONValue {
        [
            "section": .string(change.section), "item": change.item ?? .null, "group": .string(name),
            "old": value(of: sides.old), "current": value(of: current), "new": value(of: sides.new), "by": .null,
        ]
    }
}
