import GRDB

/// Pushes of another history: they wait for a snapshot, and are built again in the transaction that ends it.
///
/// Two notes: `otherHistory` has the numbers of pushes to build again, each with true if its outcome is unknown.
/// `otherRecord` has the numbers of pushes in progress if a snapshot contains another record under the same id.
extension Ledger {
    /// Has nothing be sent before a snapshot, and a push be built again then.
    func noteOtherHistory(_ sent: FrozenPush) throws {
        try checkLease()
        let push = sent.number
        let found = "SELECT doubt FROM push WHERE seq = ? AND state = 1 AND key = ?"
        guard let doubt = try number(found, [push, sent.key]) else { return }
        // The last request has this answer. An earlier request may have been merged in the lost history.
        var waiting = try meta("otherHistory").objectValue ?? [:]
        waiting["\(push)"] = .bool(doubt > 1)
        try setMeta("otherHistory", .object(waiting))
        try setMeta("resnapshot", true)
        // A snapshot of a later history than the push's continues.
        let running = try meta("snapshot")["feed"]
        if running.isNull || JSONValue(bytes: sent.body)?["feed"] == running { try setMeta("snapshot", .null) }
    }

    /// Refuses the edits of a record if a snapshot of another history contains another record under its id.
    func refuseOthers(_ place: RecordPlace, held: JSONObject?, record: JSONObject?) throws {
        guard let record, let known = try known(place.resource), let feed = try meta("snapshot")["feed"].stringValue,
            try meta("feed").stringValue != feed,
            // The difference of two filters is of the same history.
            try meta("snapshot")["unless"].isNull
        else { return }
        let edits = try pending(place)
        guard !edits.isEmpty, known.isOther(record, than: held, edits: edits.map(\.changes)) else { return }
        let waiting = try meta("otherHistory").objectValue ?? [:]
        for edit in edits where !edit.changes.isCreation(of: known) {
            guard let state = try state(of: edit.push), state == .unsent || state == .sent else { continue }
            if state == .unsent || waiting["\(edit.push)"] != nil {
                try refuseOther(edit)
            } else {
                // Bytes under way are repeated first. The gateway decides by their feed.
                let numbers = try meta("otherRecord").arrayValue ?? []
                try setMeta("otherRecord", .array(numbers + [.integer(Int128(edit.push))]))
            }
        }
    }

    private func refuseOther(_ edit: StoredEdit) throws {
        let problem = ProblemDocument.make(
            "other-record", status: 409, title: "Another record",
            detail: "Another record has the id \(edit.id) of \(edit.resource) now.")
        let index = try edits(of: edit.push).firstIndex { $0.place == edit.place }
        try refuse(edit.push, problem, fault: index ?? 0)
    }

    /// Builds the pushes of another history again; each gets a new key when it is sent.
    func rebuild() throws {
        try checkLease()
        guard let waiting = try meta("otherHistory").objectValue else { return }
        let others = Set(try meta("otherRecord").arrayValue?.compactMap(\.intValue) ?? [])
        try setMeta("otherHistory", .null)
        // Pushes in progress without an answer keep their numbers.
        let left = try others.filter { try waiting["\($0)"] == nil && state(of: Int64($0)) == .sent }.sorted()
        try setMeta("otherRecord", left.isEmpty ? .null : .array(left.map { .integer(Int128($0)) }))
        let numbers = waiting.keys.compactMap { Int64($0) }.sorted()
        var done: Set<DoneGroup> = []
        var parts: [Int64: RebuiltPush] = [:]
        // If a later push finds the result of a group, the earlier pushes were merged.
        for push in numbers.reversed() {
            parts[push] = try rebuilt(push, isUnknown: waiting["\(push)"] == true, done: &done)
        }
        for push in numbers {
            guard try state(of: push) == .sent, let parts = parts[push] else { continue }
            let edits = try edits(of: push)
            effects.touched.formUnion(edits.map(\.record))
            if others.contains(Int(push)), let edit = edits.first {
                try refuseOther(edit)
            } else if let gone = parts.gone {
                let edit = edits[gone]
                let problem = ProblemDocument.make(
                    "gone", status: 410, title: "Gone", detail: "The record \(edit.id) of \(edit.resource) is gone.")
                try refuse(push, problem, fault: gone)
            } else {
                try store(parts, of: push, edits)
            }
        }
        try dropKept()
    }

    private func store(_ parts: RebuiltPush, of push: Int64, _ edits: [StoredEdit]) throws {
        try write(
            "UPDATE push SET state = 0, key = ?, body = NULL, doubt = 0, pulls = 0 WHERE seq = ?",
            [newKey(), push])
        for edit in edits { try replaceChanges(push, edit.place, with: parts.kept[edit.place] ?? RecordChanges([])) }
        try noteCreations(push)
        let unknown = edits.filter { parts.unknown[$0.place] != nil }
        if !unknown.isEmpty { try refuse(unknown, parts: parts, of: push) }
        try settleCancelled(push)
    }

    /// Refuses the parts of a push with an unknown outcome.
    private func refuse(_ edits: [StoredEdit], parts: RebuiltPush, of push: Int64) throws {
        let atomicity = try text("SELECT atomic FROM push WHERE seq = ?", [push]).flatMap(Atomicity.init)
        let entry = try append(
            edits.map {
                QueuedPart(resource: $0.resource, id: $0.id, changes: parts.unknown[$0.place] ?? RecordChanges([]))
            }, atomicity)
        let records = Set(edits.map(\.record))
        for ticket in try tickets("push = ? AND outcome IS NULL", [push])
        where ticket.records.contains(where: records.contains) {
            try write("UPDATE ticket SET push = ? WHERE token = ?", [entry, ticket.token])
        }
        try refuse(entry, ProblemDocument.outcomeUnknown, fault: 0)
    }

    private func rebuilt(_ push: Int64, isUnknown: Bool, done: inout Set<DoneGroup>) throws -> RebuiltPush {
        var parts = RebuiltPush()
        let edits = try edits(of: push)
        for (index, edit) in edits.enumerated() {
            let base = try base(edit.record)
            guard let known = try known(edit.resource) else {
                parts.kept[edit.place] = edit.changes
                continue
            }
            let creates = edit.changes.isCreation(of: known)
            let isTemporary = edit.id.temporaryID != nil
            if base == nil, !creates, !isTemporary {
                if !edit.changes.isDeletion(of: known) { parts.gone = index }
                continue
            }
            var left = LeftChanges(kept: edit.changes.rows)
            if isUnknown, creates, !isTemporary {
                if edit.changes.isCreated(in: base, of: known) { left.kept = [] }
            } else if isUnknown, base != nil || creates {
                left = edit.changes.left(over: base, id: edit.id, of: known, done: &done)
            }
            if !left.kept.isEmpty { parts.kept[edit.place] = RecordChanges(left.kept) }
            if !left.unknown.isEmpty { parts.unknown[edit.place] = RecordChanges(left.unknown) }
        }
        let roots = try Dictionary(
            edits.map { ($0.place, try known($0.resource)?.root.name ?? "") }, uniquingKeysWith: { first, _ in first })
        while parts.moveDependents(edits, roots: roots) {}
        return parts
    }
}

/// The parts of a push that is built again, by the places of its edits.
struct RebuiltPush {
    /// These are sent again.
    var kept: [Int: RecordChanges] = [:]
    /// The outcome of these is unknown.
    var unknown: [Int: RecordChanges] = [:]
    /// The index of an edit whose record was deleted.
    var gone: Int?

    /// Moves rows that use an id of an unknown row to the unknown ones; returns whether there were any.
    mutating func moveDependents(_ edits: [Ledger.StoredEdit], roots: [Int: String]) -> Bool {
        let made = Set(
            edits.flatMap { unknown[$0.place]?.createdIDs(of: $0.id, root: roots[$0.place] ?? "") ?? [] })
        var isMoved = false
        for edit in edits {
            let rows = kept[edit.place]?.rows ?? []
            let moved = rows.filter { !RecordChanges([$0]).usedIDs(with: edit.id).isDisjoint(with: made) }
            guard !moved.isEmpty else { continue }
            isMoved = true
            unknown[edit.place] = RecordChanges((unknown[edit.place]?.rows ?? []) + moved)
            let left = rows.filter { !moved.contains($0) }
            kept[edit.place] = left.isEmpty ? nil : RecordChanges(left)
        }
        return isMoved
    }
}
