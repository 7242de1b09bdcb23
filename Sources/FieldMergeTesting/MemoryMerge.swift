import FieldMergeClient

/// The reason why a gateway in memory refuses a push.
struct MemoryRefusal: Error {
    let status: Int
    let code: String
}

/// Applies the edits of one push to the current records.
struct MemoryMerge {
    let rules: Rules
    let defaults: [String: [String: JSONObject]]
    var records: [MemoryPlace: JSONValue]

    /// Applies an edit; returns its outcomes.
    mutating func apply(_ edit: JSONValue) throws(MemoryRefusal) -> [JSONValue] {
        guard let resource = rules.resources[edit["resource"].stringValue ?? ""] else {
            throw MemoryRefusal(status: 400, code: "unknown-resource")
        }
        guard !edit.description.contains("\"tmp:") else { throw MemoryRefusal(status: 400, code: "unknown-temporary") }
        let place = MemoryPlace(resource: resource.name, key: edit["id"].key)
        var outcomes: [JSONValue] = []
        for section in resource.sections {
            let part = edit["changeset"][section.name]
            guard !part.isNull else { continue }
            let rows = part.arrayValue ?? [part]
            let deletions = rows.filter(Self.deletes)
            for row in deletions + rows.filter({ !Self.deletes($0) }) {
                outcomes += try apply(row, section, of: resource, place, id: edit["id"])
            }
        }
        return outcomes
    }

    private static func deletes(_ row: JSONValue) -> Bool { row.objectValue?["new"] == .some(.null) }
    private static func creates(_ row: JSONValue) -> Bool { row.objectValue?["old"] == .some(.null) }

    private mutating func apply(
        _ row: JSONValue, _ section: SectionRules, of resource: ResourceRules, _ place: MemoryPlace, id: JSONValue
    ) throws(MemoryRefusal) -> [JSONValue] {
        var named: JSONValue = ["section": .string(section.name)]
        if section.isList { named["id"] = row["id"] }
        func told(_ outcome: JSONValue, isConflict: Bool = false) -> [JSONValue] {
            var out = named
            out["outcome"] = outcome
            if isConflict { out["conflict"] = true }
            return [out]
        }
        let isRoot = section.name == resource.root.name
        if isRoot, Self.creates(row) {
            guard records[place] == nil else { throw MemoryRefusal(status: 422, code: "unique") }
            records[place] = record(id, of: resource, fields: row["new"])
            return told("inserted")
        }
        if isRoot, Self.deletes(row) { return told(try delete(place, of: section, old: row["old"])) }
        guard var record = records[place] else { return told("missing", isConflict: true) }
        defer { if records[place] != nil { records[place] = record } }
        guard section.isList else {
            if Self.creates(row) {
                let under = record[section.name].objectValue ?? blank(section, of: resource)
                record[section.name] = .object(under.merging(row["new"].objectValue ?? [:]) { _, new in new })
                return told("inserted")
            }
            let held = record[section.name]
            if Self.deletes(row) {
                record[section.name] = .null
                return told(held.isNull ? "already" : "deleted")
            }
            guard var under = held.objectValue else { return told("missing", isConflict: true) }
            let outcomes = try Self.groups(of: row, section, over: &under, named)
            record[section.name] = .object(under)
            return outcomes
        }
        var items = record[section.name].arrayValue ?? []
        let index = items.firstIndex { $0["id"].key == row["id"].key }
        if Self.creates(row) {
            var made = blank(section, of: resource).merging(row["new"].objectValue ?? [:]) { _, new in new }
            made["id"] = row["id"]
            record[section.name] = .array(items + [.object(made)])
            return told("inserted")
        }
        guard let index else {
            return Self.deletes(row) ? told("already") : told("missing", isConflict: true)
        }
        if Self.deletes(row) {
            try Self.check(row["old"], section, held: items[index])
            items.remove(at: index)
            record[section.name] = .array(items)
            return told("deleted")
        }
        var under = items[index].objectValue ?? [:]
        let outcomes = try Self.groups(of: row, section, over: &under, named)
        items[index] = .object(under)
        record[section.name] = .array(items)
        return outcomes
    }

    /// A row without values.
    private func blank(_ section: SectionRules, of resource: ResourceRules) -> JSONObject {
        let blank = section.blank
        let own = (defaults[resource.name]?[section.name] ?? [:]).filter { blank[$0.key] != nil }
        return blank.merging(own) { _, value in value }
    }

    /// Refuses a base with a value that the column cannot have.
    private static func check(_ old: JSONObject, _ fields: [FieldRules], held: JSONObject) throws(MemoryRefusal) {
        for field in fields where !field.isNullable && (old[field.name] ?? .null).isNull {
            guard (held[field.name] ?? .null).isNull else { throw MemoryRefusal(status: 400, code: "invalid-value") }
        }
    }

    private static func check(_ old: JSONValue, _ section: SectionRules, held: JSONValue) throws(MemoryRefusal) {
        try check(old.objectValue ?? [:], Array(section.fields.values), held: held.objectValue ?? [:])
    }

    private mutating func delete(
        _ place: MemoryPlace, of section: SectionRules, old: JSONValue
    ) throws(MemoryRefusal) -> JSONValue {
        guard let held = records[place] else { return "already" }
        try Self.check(old, section, held: held[section.name])
        records[place] = nil
        return "deleted"
    }

    private func record(_ id: JSONValue, of resource: ResourceRules, fields: JSONValue) -> JSONValue {
        var record: JSONObject = ["id": id]
        for section in resource.sections.dropFirst() { record[section.name] = section.isList ? [] : .null }
        record[resource.root.name] = .object(
            blank(resource.root, of: resource).merging(fields.objectValue ?? [:]) { _, new in new })
        return .object(record)
    }

    private static func groups(
        of row: JSONValue, _ section: SectionRules, over held: inout JSONObject, _ named: JSONValue
    ) throws(MemoryRefusal) -> [JSONValue] {
        var outcomes: [JSONValue] = []
        for group in section.groups {
            guard let sides = row.objectValue?[group.name] else { continue }
            guard sides.objectValue?["old"] != nil else { throw MemoryRefusal(status: 400, code: "invalid-changeset") }
            let isWhole = [sides["old"], sides["new"]].allSatisfy { group.spread($0).count == group.fields.count }
            guard isWhole else { throw MemoryRefusal(status: 400, code: "incomplete-group") }
            let (old, new, current) = (sides["old"], sides["new"], group.value(of: held))
            try check(group.spread(old), group.fields, held: held)
            if group.holdsSame(group.spread(old), group.spread(new)) { continue }
            let (outcome, written) = try merge(group, old: old, current: current, new: new)
            held.merge(group.spread(written)) { _, new in new }
            var told = named
            told["group"] = .string(group.name)
            told["outcome"] = .string(outcome)
            if outcome != "applied", outcome != "already" {
                told["conflict"] = true
                told["old"] = old
                told["current"] = current
                told["new"] = new
                told["written"] = written
            }
            outcomes.append(told)
        }
        return outcomes
    }

    private static func merge(
        _ group: GroupRules, old: JSONValue, current: JSONValue, new: JSONValue
    ) throws(MemoryRefusal) -> (String, JSONValue) {
        var sum: JSONValue?
        if group.merge == "add", let old = old.intValue, let current = current.intValue, let new = new.intValue {
            sum = .integer(Int128(current + new - old))
        }
        if sum == nil, group.holdsSame(group.spread(new), group.spread(current)) { return ("already", current) }
        if group.holdsSame(group.spread(old), group.spread(current)) { return ("applied", new) }
        if let sum { return ("combined", sum) }
        switch group.policy {
        case "reject": throw MemoryRefusal(status: 409, code: "rejected")
        case "server-wins": return ("server-won", current)
        default: return ("client-won", new)
        }
    }
}
