import GRDB

/// A problem document of the client itself.
enum ProblemDocument {
    static func make(_ code: String, status: Int, title: String, detail: String) -> JSONValue {
        [
            "type": .string("urn:fieldmerge:problem:\(code)"), "title": .string(title),
            "status": .integer(Int128(status)), "detail": .string(detail), "code": .string(code), "retry": false,
        ]
    }

    static let outcomeUnknown = make(
        "outcome-unknown", status: 409, title: "Outcome unknown", detail: "This edit may have been merged already.")
}

/// Pushes that were refused for good.
extension Ledger {
    /// Refuses a push, and the pushes that build on it.
    ///
    /// - Parameter fault: the position of the edit at fault.
    func refuse(_ push: Int64, _ problem: JSONValue, results: [JSONValue] = [], fault: Int) throws {
        let edits = try edits(of: push)
        let conflicts = try zip(edits, results).map { try named(refusedConflicts(of: $0, $1), of: $0) }
        let made = try creations(push)
        let result: JSONValue? = results.indices.contains(fault) ? .some(results[fault]) : .none
        let own = result?["problem"].nonNull ?? problem
        let guilty = edits.indices.contains(fault) ? edits[fault] : nil
        let refusal: JSONValue = [
            "problem": own, "fault": .integer(Int128(guilty?.place ?? 0)), "record": result?["record"] ?? .null,
            "hasRecord": .bool(result != nil),
            "faulty": .array(try faultyPaths(of: edits, results: results, problem: problem)),
        ]
        try write(
            "UPDATE push SET state = 3, key = NULL, body = NULL, doubt = 0, refusal = ? WHERE seq = ?",
            [refusal.text, push])
        try write("DELETE FROM creation WHERE push = ?", [push])
        for ticket in try tickets("push = ? AND outcome IS NULL", [push]) {
            let mine = Set(ticket.records)
            let told = zip(edits, conflicts).filter { mine.contains($0.0.record) }.flatMap(\.1)
            var record = try ticket.records.first.flatMap(base).map(JSONValue.object) ?? .null
            for (edit, result) in zip(edits, results) where edit.record == ticket.records.first {
                record = result["record"]
            }
            let outcome = StoredOutcome(status: .refused, conflicts: told, problem: own, record: record)
            try resolve(ticket.token, outcome, push: push)
        }
        for conflict in conflicts.joined() { try list(conflict) }
        try queue(.refused, ["entry": .integer(Int128(push))])
        effects.touched.formUnion(edits.map(\.record))
        try refuseDependents(of: push, guilty, made: made)
    }

    private func refuseDependents(of push: Int64, _ fault: StoredEdit?, made: [String]) throws {
        for temporary in made {
            for user in try pushes(using: temporary) {
                guard let state = try state(of: user), state == .unsent || state == .sent else { continue }
                let what = fault.map { "\($0.resource) \($0.id)" } ?? temporary
                try refuse(user, dependingOn: MissingCreation(push: push, what: what, temporary: temporary))
            }
        }
    }

    /// A refused creation that something builds on.
    struct MissingCreation {
        let push: Int64
        /// The record whose edit was at fault.
        let what: String
        /// The id that it would have made a real one.
        let temporary: String
    }

    /// Refuses a push because of a refused creation that it builds on.
    func refuse(_ push: Int64, dependingOn missing: MissingCreation) throws {
        var problem = ProblemDocument.make(
            "depends-on-refused", status: 422, title: "Depends on a refused edit",
            detail: "It refers to \(missing.temporary), which the refused edit of \(missing.what) would have created.")
        problem["dependsOn"] = ["entry": .integer(Int128(missing.push)), "id": .string(missing.temporary)]
        let index = try edits(of: push).firstIndex { $0.changes.usedIDs(with: $0.id).contains(missing.temporary) }
        try refuse(push, problem, fault: index ?? 0)
    }

    /// Returns the refused creation that new edits need; nil if there is none.
    func missingCreation(of parts: [EditPart]) throws -> MissingCreation? {
        let used = parts.reduce(into: Set<String>()) { $0.formUnion($1.changes.usedIDs(with: $1.id)) }
        return try missingCreation(of: used)
    }

    private func missingCreation(of used: Set<String>, besides others: Set<Int64> = []) throws -> MissingCreation? {
        guard !used.isEmpty else { return nil }
        for refusal in try refusals() where !others.contains(refusal.push) {
            guard let temporary = try creations(refusal.push).first(where: used.contains) else { continue }
            let place = refusal.told["fault"].intValue
            let fault = refusal.edits.first { $0.place == place }
            return MissingCreation(
                push: refusal.push, what: fault.map { "\($0.resource) \($0.id)" } ?? temporary, temporary: temporary)
        }
        return nil
    }

    /// A refused push with its problem and its edits.
    struct Refusal: Sendable {
        let push: Int64
        let told: JSONValue
        let edits: [StoredEdit]
    }

    /// Returns the refused pushes in their order.
    func refusals() throws -> [Refusal] {
        try rows("SELECT seq, refusal FROM push WHERE state = 3 ORDER BY seq").map { row in
            Refusal(
                push: row[0], told: (row[1] as String?).flatMap { JSONValue(text: $0) } ?? .null,
                edits: try edits(of: row[0]))
        }
    }

    /// Appends a refused push to the queue: after the refused pushes that it needs, and before pushes that were refused
    /// because of it; false if it is not refused any more.
    ///
    /// - Parameters:
    ///   - asked: the pushes that need this push.
    ///   - leftOut: the temporary ids of rows that remain refused.
    func resend(_ push: Int64, asked: Set<Int64> = [], leftOut: Set<String> = []) throws -> Bool {
        guard try state(of: push) == .refused else { return false }
        let used = try edits(of: push).reduce(into: Set<String>()) { $0.formUnion($1.changes.usedIDs(with: $1.id)) }
        let asked = asked.union([push])
        var tried = leftOut
        while let missing = try missingCreation(of: used.subtracting(tried), besides: asked) {
            // New rules may refuse it again at once.
            tried.insert(missing.temporary)
            _ = try resend(missing.push, asked: asked, leftOut: leftOut)
        }
        // It may already be in the queue.
        guard try state(of: push) == .refused else { return true }
        let made = Set(try creations(push))
        let new = try renumber(push)
        if let missing = try missingCreation(of: used, besides: asked.union([new])) {
            try refuse(new, dependingOn: missing)
            return true
        }
        for other in try refusals() {
            let depends = other.told["problem"]["dependsOn"]
            if depends["entry"].intValue.map(Int64.init) == push, let id = depends["id"].stringValue, made.contains(id)
            {
                _ = try resend(other.push, asked: asked, leftOut: leftOut)
            }
        }
        try regroup()
        for edit in try edits(of: new) where try known(edit.resource).map({ !edit.changes.isCreation(of: $0) }) ?? true
        {
            try revive(edit.resource, edit.id, base: nil)
        }
        effects.touched.formUnion(try edits(of: new).map(\.record))
        return true
    }

    private func renumber(_ push: Int64) throws -> Int64 {
        try write(
            "INSERT INTO push (state, key, atomic, rules, at) SELECT 0, ?, atomic, rules, ? FROM push WHERE seq = ?",
            [newKey(), context.clock.now(), push])
        let new = db.lastInsertedRowID
        try write("UPDATE edit SET push = ? WHERE push = ?", [new, push])
        try write("UPDATE ticket SET push = ?, outcome = NULL WHERE push = ?", [new, push])
        try write("DELETE FROM push WHERE seq = ?", [push])
        try noteCreations(new)
        return new
    }

    /// Deletes a refused push; false if it is not refused any more.
    func discard(_ push: Int64) throws -> Bool {
        guard try state(of: push) == .refused else { return false }
        effects.touched.formUnion(try edits(of: push).map(\.record))
        try discardTickets("push = ?", [push])
        try write("DELETE FROM edit WHERE push = ?", [push])
        try write("DELETE FROM push WHERE seq = ?", [push])
        return true
    }

    /// Returns the conflicts of a result as events have them.
    static func conflicts(of edit: StoredEdit, _ result: JSONValue) -> [JSONValue] {
        (result["outcomes"].arrayValue ?? []).filter { $0["conflict"] == true }.map { outcome in
            let id = result["id"]
            var told: JSONValue = [
                "resource": .string(edit.resource), "id": id.isNull ? edit.id : id, "item": outcome["id"],
            ]
            for name in ["section", "group", "outcome", "rule", "old", "current", "new", "written", "by", "parts"] {
                told[name] = outcome[name]
            }
            return told
        }
    }

    /// Returns the conflicts of a result of which nothing was written.
    func refusedConflicts(of edit: StoredEdit, _ result: JSONValue) throws -> [JSONValue] {
        let known = try known(edit.resource)
        return Self.conflicts(of: edit, result).map { conflict in
            var told = conflict
            told["outcome"] = "refused"
            told["written"] = Self.held(conflict, in: result["record"].objectValue, known) ?? conflict["current"]
            return told
        }
    }

    /// Returns the value of a record at the place of a conflict; nil if it is unknown.
    private static func held(
        _ conflict: JSONValue, in record: JSONObject?, _ known: ResourceRules?
    ) -> JSONValue? {
        guard let section = known?.section(named: conflict["section"].stringValue ?? ""),
            let group = section.group(conflict["group"].stringValue ?? "")
        else { return nil }
        let place = RowChange(section: section.name, item: conflict["item"].nonNull, step: .edit([:]))
        return place.row(of: record, isList: section.isList).map(group.value)
    }
}
