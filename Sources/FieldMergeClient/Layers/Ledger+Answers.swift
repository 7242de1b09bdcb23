import GRDB

/// The outcomes of pushes.
extension Ledger {
    /// Stores that a push was merged, whole or in part.
    ///
    /// - Parameter rules: the version of the rules that the records of the results are of.
    func settle(_ sent: FrozenPush, results: [JSONValue], rules: String?) throws {
        try checkLease()
        let push = sent.number
        let pulls = "SELECT pulls FROM push WHERE seq = ? AND state = 1 AND key = ?"
        // The answer may be as old as the first sending of these bytes.
        guard let newerThan = try number(pulls, [push, sent.key]) else { return }
        let edits = try edits(of: push)
        let pairs = Array(zip(edits, results))
        let failed = results.indices.filter { ![.null, "merged"].contains(results[$0]["status"]) }
        let seen = try seen(by: edits, and: results)
        let views = try edits.map { try view($0.resource, $0.id) }

        // Outcomes have the ids that the edits had at first.
        let conflicts = try pairs.enumerated().map { index, pair in
            let isFailed = failed.contains(index)
            return try named(
                isFailed ? refusedConflicts(of: pair.0, pair.1) : Self.conflicts(of: pair.0, pair.1), of: pair.0)
        }
        var ids: [String: JSONValue] = [:]
        for result in results { ids.merge(result["ids"].objectValue ?? [:]) { _, last in last } }
        let missing = try missingParts(pairs, besides: failed, ids: ids)
        let refused = try resolveTickets(
            push,
            answer: Answered(
                edits: edits, results: results, conflicts: conflicts, failed: failed, missing: Set(missing.keys)))

        try write("DELETE FROM edit WHERE push = ?", [push])
        try write("DELETE FROM creation WHERE push = ?", [push])
        try write("UPDATE push SET state = 2, doubt = 0 WHERE seq = ?", [push])
        try map(ids, answered: edits)

        for (index, (edit, result)) in pairs.enumerated() where !failed.contains(index) {
            try noteCreatedRows(of: edit, ids: ids, record: result["record"].objectValue)
            try fillUnknown(after: edit, ids: ids, record: result["record"].objectValue)
        }
        for (index, (edit, result)) in pairs.enumerated()
        where !failed.contains(index) || !result["record"].isNull {
            try storeResult(edit, result: result, before: views[index], newerThan: Int(newerThan))
        }
        for conflict in conflicts.joined() { try list(conflict) }
        for index in failed where edits.indices.contains(index) {
            try refuse(part: edits[index], edits[index].changes.mapped(ids), result: results[index], tickets: refused)
        }
        for (index, part) in missing.sorted(by: { $0.key < $1.key }) {
            var result = results[index]
            result["problem"] = Self.missingProblem(edits[index])
            try refuse(part: edits[index], part, result: result, tickets: refused)
        }
        for (place, before) in seen {
            let key = IDText(parts: place.key.parts.map { ids[$0]?.key.string ?? $0 })
            let mapped = before.map { $0.mapValues { $0.mappedDeep(ids) } }
            try rebase(RecordPlace(resource: place.resource, key: key), before: mapped)
        }
        try noteShapes(of: Set(results.compactMap { $0["resource"].stringValue }), under: rules)
        try dropKept()
        try forgetVisited(edits)
        try runHooks()
    }

    private func seen(by edits: [StoredEdit], and results: [JSONValue]) throws -> [RecordPlace: JSONObject?] {
        var places: [RecordPlace: JSONObject?] = [:]
        for edit in edits { places[edit.record] = .some(try seen(edit.record)) }
        for result in results {
            guard let id = result["record"].objectValue?["id"], let resource = result["resource"].stringValue else {
                continue
            }
            let place = RecordPlace(resource: resource, key: id.key)
            if places[place] == nil { places[place] = .some(try seen(place)) }
        }
        return places
    }

    /// The answer to a push, edit by edit.
    private struct Answered {
        let edits: [StoredEdit]
        let results: [JSONValue]
        let conflicts: [[JSONValue]]
        let failed: [Int]
        /// The edits with a deleted row.
        let missing: Set<Int>

        /// Returns the reason why an edit, or a part of it, was refused; nil if it was merged.
        func problem(of index: Int) -> JSONValue? {
            if failed.contains(index) { return results[index]["problem"] }
            guard missing.contains(index) else { return .none }
            return Ledger.missingProblem(edits[index])
        }
    }

    private static func missingProblem(_ edit: StoredEdit) -> JSONValue {
        ProblemDocument.make(
            "missing", status: 409, title: "Missing",
            detail: "A row of \(edit.resource) \(edit.id) is gone, or this client may not see it any more.")
    }

    /// Returns the changes that found no row, by the index of their edit.
    private func missingParts(
        _ pairs: [(StoredEdit, JSONValue)], besides failed: [Int], ids: [String: JSONValue]
    ) throws -> [Int: RecordChanges] {
        var parts: [Int: RecordChanges] = [:]
        for (index, (edit, result)) in pairs.enumerated() where !failed.contains(index) {
            let outcomes = (result["outcomes"].arrayValue ?? []).filter { $0["outcome"] == "missing" }
            guard !outcomes.isEmpty else { continue }
            let rows = edit.changes.mapped(ids).rows.compactMap { $0.missing(by: outcomes, ids: ids) }
            if !rows.isEmpty { parts[index] = RecordChanges(rows) }
        }
        return parts
    }

    /// Stores the outcomes of the tickets of a push; returns the tickets of refused edits.
    private func resolveTickets(_ push: Int64, answer: Answered) throws -> [StoredTicket] {
        var refusedTickets: [StoredTicket] = []
        for ticket in try tickets("push = ? AND outcome IS NULL", [push]) {
            let mine = Set(ticket.records)
            let concerned = answer.edits.indices.filter { mine.contains(answer.edits[$0].record) }
            let refused = concerned.lazy.compactMap(answer.problem).first
            let told = concerned.filter(answer.conflicts.indices.contains).flatMap { answer.conflicts[$0] }
            let own = concerned.first {
                answer.edits[$0].record == ticket.records.first && answer.results.indices.contains($0)
            }
            try resolve(
                ticket.token,
                StoredOutcome(
                    status: refused == nil ? .merged : .refused, conflicts: told,
                    problem: refused ?? .null,
                    record: own.map { answer.results[$0]["record"] } ?? .null))
            if refused != nil { refusedTickets.append(ticket) }
        }
        return refusedTickets
    }

    /// Replaces temporary ids everywhere but in frozen bytes.
    ///
    /// - Parameter answered: the edits of the push that created the rows.
    private func map(_ ids: [String: JSONValue], answered: [StoredEdit]) throws {
        let real = ids.filter { JSONValue.string($0.key).temporaryID != nil }
        var records = Dictionary(answered.map { ($0.key, $0.id) }) { first, _ in first }
        for (temporary, id) in real.sorted(by: { $0.key < $1.key }) {
            try write("INSERT OR REPLACE INTO mapping VALUES (?, ?)", [temporary, id.text])
            records[IDText(temporary)] = .string(temporary)
            effects.concernsAll = true
            let users = "(e.push, e.place) IN (SELECT push, place FROM edit_use WHERE temporary = ?)"
            for edit in try edits(users, [temporary]) {
                records[edit.key] = edit.id
                let mapped = edit.id.mapped(real)
                effects.touched.formUnion([edit.record, RecordPlace(resource: edit.resource, key: mapped.key)])
                try write(
                    "UPDATE edit SET id = ?, key = ?, changes = ? WHERE push = ? AND place = ?",
                    [mapped.text, mapped.key, edit.changes.mapped(real).text, edit.push, edit.place])
            }
        }
        for (key, id) in records.sorted(by: { $0.key < $1.key }) where id.mapped(real) != id {
            let mapped = id.mapped(real)
            try write("UPDATE ticket SET id = ?, key = ? WHERE key = ?", [mapped.text, mapped.key, key])
        }
    }

    private func storeResult(
        _ edit: StoredEdit, result: JSONValue, before: JSONObject?, newerThan: Int
    ) throws {
        let record = result["record"].objectValue
        effects.touched.insert(edit.record)
        let id = try record?["id"] ?? resolve(edit.id)
        let place = RecordPlace(resource: edit.resource, key: id.key)
        if try wasPulled(place, since: newerThan) { return }
        let held = record == nil ? try base(place) : nil
        if record == nil, let problem = result["problem"].nonNull {
            if let held { try put(edit.resource, id: id, held.showing(problem), before: before) }
            return
        }
        let wasHere = held != nil
        try put(edit.resource, id: id, record, before: before)
        if record == nil, wasHere, let known = try known(edit.resource), !edit.changes.isDeletion(of: known) {
            try queue(.gone, ["resource": .string(edit.resource), "id": id])
        }
    }

    /// Stores that a push was refused, with the pushes that build on it.
    func storeRefusal(_ sent: FrozenPush, _ problem: JSONValue, results: [JSONValue], rules: String? = nil) throws {
        try checkLease()
        let push = sent.number
        let pulls = "SELECT pulls FROM push WHERE seq = ? AND state = 1 AND key = ?"
        guard let newerThan = try number(pulls, [push, sent.key]) else { return }
        let edits = try edits(of: push)
        let seen = try seen(by: edits, and: results)
        let fault = results.prefix(edits.count).firstIndex {
            !$0["problem"].isNull && $0["problem"]["code"] != "rolled-back"
        }
        try refuse(push, problem, results: results, fault: fault ?? 0)
        for result in results {
            guard let record = result["record"].objectValue, let id = record["id"],
                let resource = result["resource"].stringValue
            else { continue }
            let place = RecordPlace(resource: resource, key: id.key)
            if try !wasPulled(place, since: Int(newerThan)), try context.keeps(resource) || base(place) != nil {
                try put(resource, id: id, record, before: view(resource, id))
            }
        }
        try noteShapes(of: Set(results.compactMap { $0["resource"].stringValue }), under: rules)
        for (place, before) in seen { try rebase(place, before: before) }
        try dropKept()
        try runHooks()
    }

    /// Adds an entry for the refused groups of an edit.
    ///
    /// The other groups of its push were merged.
    ///
    /// - Parameter tickets: the tickets of the refused edits of its push.
    private func refuse(
        part edit: StoredEdit, _ changes: RecordChanges, result: JSONValue, tickets: [StoredTicket]
    ) throws {
        let id = try resolve(edit.id)
        let push = try append([QueuedPart(resource: edit.resource, id: id, changes: changes)], nil)
        var told = result
        told["outcomes"] = []
        try refuse(push, result["problem"], results: [told], fault: 0)
        for ticket in tickets where ticket.records.contains(edit.record) {
            try write("UPDATE ticket SET push = ? WHERE token = ?", [push, ticket.token])
        }
    }

    /// Deletes records of resources that are not kept once nothing of them is pending.
    private func forgetVisited(_ edits: [StoredEdit]) throws {
        for edit in edits where !context.keeps(edit.resource) {
            let place = RecordPlace(resource: edit.resource, key: try resolve(edit.id).key)
            if try pending(place).isEmpty {
                try write("DELETE FROM base WHERE resource = ? AND key = ?", [place.resource, place.key])
            }
        }
    }

    /// Returns whether a record, or its deletion, was read since a number of pulls.
    private func wasPulled(_ place: RecordPlace, since pulls: Int) throws -> Bool {
        for table in ["base", "tombstone"] {
            let pulled = try number(
                "SELECT pulled FROM \(table) WHERE resource = ? AND key = ?", [place.resource, place.key])
            if let pulled, pulled > pulls { return true }
        }
        return false
    }
}

extension RowChange {
    /// Returns the part of the change that the gateway found no row for; nil if there is none.
    ///
    /// - Parameter outcomes: the outcomes `missing` of its record.
    fileprivate func missing(by outcomes: [JSONValue], ids: [String: JSONValue]) -> RowChange? {
        let mine = outcomes.filter { outcome in
            guard outcome["section"] == .string(section) else { return false }
            return item.map { outcome["id"].mapped(ids).key == $0.key } ?? true
        }
        guard !mine.isEmpty else { return nil }
        guard case .edit(let groups) = step, mine.allSatisfy({ !$0["group"].isNull }) else { return self }
        let left = groups.filter { name, _ in mine.contains { $0["group"] == .string(name) } }
        return left.isEmpty ? nil : with(.edit(left))
    }
}
