import Foundation
import GRDB
import Synchronization

/// A push in the wire format, always with the same bytes.
struct FrozenPush: Sendable {
    let number: Int64
    let key: String
    let body: [UInt8]
    /// It was settled, and is repeated because later pushes name the ids that it created.
    let isKept: Bool
}

/// A push that was sent while the store could not be written.
struct UnstoredPush: Sendable {
    let push: FrozenPush
    let edits: [Ledger.StoredEdit]
    /// The requests that had it.
    var times = 1
}

/// The bounds of a request.
struct BatchLimits: Sendable {
    var lane = PushLane.small
    /// One push at most.
    var isSingle = false
    /// The bytes of its pushes; the first one may have more.
    var bytes = Int.max
    /// False if the store cannot be written: nothing is stored then, and a push that would need it waits.
    var isStored = true
}

/// Pushes whose bytes are frozen.
extension Ledger {
    static let pushesInRequest = 100

    func newKey() -> String { UUID().uuidString.lowercased() }

    /// Gives every push of the next request its bytes.
    ///
    /// Returns none before a snapshot that pushes of another history wait for.
    ///
    /// - Throws: `FieldMergeError.rulesUnknown` if nothing can be written without rules.
    func freeze(_ limits: BatchLimits) throws -> [FrozenPush] {
        try checkLease()
        guard try meta("otherHistory").isNull, try !waitsForRules(limits.lane) else { return [] }
        let new = try newRules()?.rules
        if new == nil, limits.isStored { try regroup() }
        guard let rules = try new ?? rules() else { throw FieldMergeError.rulesUnknown }
        if limits.isStored { try storeClockOffset() }
        let mostPushes = limits.isSingle || limits.lane == .large ? 1 : Self.pushesInRequest
        var batch: [FrozenPush] = []
        var edits = 0
        var size = 1_000
        var walk = try QueueWalk(self, limits.lane, stale: staleToSend())
        while batch.count < mostPushes, var push = try walk.next() {
            if push.edits.contains(where: \.changes.hasUnknown) {
                // The answer to the creation has the unknown values, so the creation goes first.
                if !batch.isEmpty { break }
                guard limits.isStored else {
                    walk.passOver(push)
                    continue
                }
                guard try knowsAll(of: push.number) else { continue }
                push.edits = try self.edits(of: push.number)
            }
            // An earlier push may have been refused just now, and this push with it.
            guard try state(of: push.number) == (push.isSent ? .sent : .unsent) else { continue }
            guard let frozen = try frozen(push, rules: rules, isStored: limits.isStored) else {
                if !limits.isStored { walk.passOver(push) }
                continue
            }
            edits += push.edits.count
            size += frozen.body.count + 1
            let isOver = edits > rules.limits.edits || size > min(limits.bytes, rules.limits.body)
            if !batch.isEmpty, isOver { break }
            if limits.isStored { try store(frozen) }
            effects.touched.formUnion(push.edits.map(\.record))
            batch.append(frozen)
        }
        return try needed(for: batch) + batch
    }

    /// Returns a push with its bytes; nil if it cannot be sent now.
    private func frozen(_ push: PendingPush, rules: Rules, isStored: Bool) throws -> FrozenPush? {
        if push.isSent {
            guard let key = push.key else { throw FieldMergeError.wrongStore("a push in the store has no key") }
            return FrozenPush(number: push.number, key: key, body: push.body, isKept: false)
        }
        if let unstored = context.unstored.withLock({ unstored in
            unstored[push.number]?.times += 1
            return unstored[push.number]
        }) {
            return unstored.push
        }
        let key = push.key ?? newKey()
        do {
            var body = try pushObject(push.edits, key: key, rules: rules, atomicity: push.atomicity)
            // After a kill, the store must make the same bytes, and it does not contain this time.
            if !isStored { body.removeValue(forKey: "sent") }
            let frozen = FrozenPush(number: push.number, key: key, body: JSONValue.object(body).bytes, isKept: false)
            if !isStored {
                guard push.key != nil else { return nil }
                context.unstored.withLock { $0[push.number] = UnstoredPush(push: frozen, edits: push.edits) }
            }
            return frozen
        } catch let error as InvalidEdit {
            guard isStored else { return nil }
            let problem = ProblemDocument.make(
                "not-built", status: 400, title: "The edit cannot be sent", detail: error.description)
            try refuse(push.number, problem, fault: 0)
            return nil
        }
    }

    private func store(_ push: FrozenPush, times: Int = 1) throws {
        // The doubt ends with an answer that nothing was written.
        try write(
            "UPDATE push SET state = 1, key = ?, body = ?, doubt = doubt + ?,"
                + " pulls = CASE WHEN doubt = 0 THEN ? ELSE pulls END WHERE seq = ?",
            [push.key, Data(push.body), times, try count("pulls"), push.number])
    }

    /// Stores the bytes of pushes that were sent while the store could not be written.
    ///
    /// Nothing joins them, since each transaction does this first.
    ///
    /// - Returns: their keys.
    func storeUnstored() throws -> [String] {
        let unstored = context.unstored.withLock { $0.values.sorted { $0.push.number < $1.push.number } }
        for sent in unstored {
            let row = try row("SELECT key FROM push WHERE seq = ? AND state = 0", [sent.push.number])
            guard row?[0] == sent.push.key, try edits(of: sent.push.number).map(\.changes) == sent.edits.map(\.changes)
            else { continue }
            try store(sent.push, times: sent.times)
        }
        return unstored.map(\.push.key)
    }

    private func pushObject(
        _ edits: [StoredEdit], key: String, rules: Rules, atomicity: String?
    ) throws -> JSONObject {
        var push: JSONObject = ["key": .string(key), "rules": .string(rules.version)]
        if let feed = try meta("feed").stringValue, !feed.isEmpty { push["feed"] = .string(feed) }
        let now = Date(timeIntervalSince1970: try serverTime())
        push["sent"] = .string(now.ISO8601Format(.init(includingFractionalSeconds: true)))
        push["atomic"] = atomicity.map(JSONValue.string)
        push["edits"] = .array(
            try edits.map { edit in
                guard let changeset = try edit.changes.changeset(of: rules.resource(edit.resource)) else {
                    throw InvalidEdit(path: edit.resource, detail: "the edit has names that the rules lack")
                }
                return ["resource": .string(edit.resource), "id": edit.id, "changeset": .object(changeset)]
            })
        return push
    }

    /// Returns the settled pushes whose temporary ids frozen bytes name.
    private func needed(for batch: [FrozenPush]) throws -> [FrozenPush] {
        var texts = batch.map { Self.text(of: $0.body) }
        var needed: [FrozenPush] = []
        for row in try rows("SELECT seq, key, body, creates FROM push WHERE state = 2 ORDER BY seq DESC") {
            let made = JSONValue(text: row[3] as String)?.arrayValue?.compactMap(\.stringValue) ?? []
            guard made.contains(where: { id in texts.contains { $0.contains(id) } }) else { continue }
            let body = Array((row[2] as Data?) ?? Data())
            needed.append(FrozenPush(number: row[0], key: row[1], body: body, isKept: true))
            texts.append(Self.text(of: body))
        }
        return needed.reversed()
    }

    /// Notes that the last request wrote nothing of these pushes.
    func noteNothingWritten(_ pushes: [FrozenPush]) throws {
        for push in pushes {
            try write(
                "UPDATE push SET doubt = max(0, doubt - 1) WHERE seq = ? AND key = ?", [push.number, push.key])
        }
    }

    /// Removes the time from a push, as an earlier request had it that could not be stored.
    func removeTime(of sent: FrozenPush) throws {
        try checkLease()
        var body = JSONValue(bytes: sent.body)?.objectValue ?? [:]
        body["sent"] = nil
        try write(
            "UPDATE push SET body = ? WHERE seq = ? AND state = 1 AND key = ?",
            [Data(JSONValue.object(body).bytes), sent.number, sent.key])
    }

    /// Returns whether a push without an answer may have been merged.
    func isInDoubt() throws -> Bool {
        try number("SELECT 1 FROM push WHERE state = 1 AND doubt > 0 LIMIT 1") != nil
    }

    /// Marks a push to be built again with a new key: nothing of it was written.
    func thaw(_ push: FrozenPush) throws {
        try checkLease()
        try write(
            "UPDATE push SET state = 0, key = ?, body = NULL, doubt = 0 WHERE seq = ? AND state = 1 AND key = ?",
            [newKey(), push.number, push.key])
        try setMeta("rulesDue", true)
        try dropKept()
    }
}
