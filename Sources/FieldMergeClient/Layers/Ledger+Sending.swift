import Foundation
import GRDB

/// A push as it goes over the wire, always in the same bytes.
struct FrozenPush: Sendable {
    let number: Int64
    let key: String
    let body: [UInt8]
    /// It was settled, and is repeated because later ones name the ids that it created.
    let isKept: Bool
}

/// Pushes whose bytes are frozen.
extension Ledger {
    static let pushesInRequest = 100

    /// Gives every push of the next request its bytes and its key.
    ///
    /// Returns none before a snapshot that pushes of another history wait for.
    ///
    /// - Throws: `FieldMergeError.rulesUnknown` where nothing can be written without rules.
    func freeze(isSingle: Bool) throws -> [FrozenPush] {
        try checkLease()
        guard try meta("otherHistory").isNull, try newRules() == nil else { return [] }
        try regroup()
        let rules = try rules()
        try storeClockOffset()
        let pulls = try count("pulls")
        var batch: [FrozenPush] = []
        var edits = 0
        var size = 1_000
        let waiting = try rows(
            "SELECT seq, state, key, body, atomic FROM push WHERE state IN (0, 1) ORDER BY seq LIMIT ?",
            [isSingle ? 1 : Self.pushesInRequest])
        for row in waiting {
            let push: Int64 = row[0]
            var stored = try self.edits(of: push)
            if stored.contains(where: \.changes.hasUnknown) {
                // What stands there by default is told by the answer to the creation, which goes first.
                if !batch.isEmpty { break }
                guard try knowsAll(of: push) else { continue }
                stored = try self.edits(of: push)
            }
            // A push before it may have been refused just now, and this one with it.
            guard let state = try state(of: push), state.rawValue == row[1] as Int else { continue }
            var key: String? = row[2]
            var body: [UInt8] = Array((row[3] as Data?) ?? Data())
            if row[1] as Int == PushState.unsent.rawValue {
                guard let rules else { throw FieldMergeError.rulesUnknown }
                let made = UUID().uuidString.lowercased()
                guard let built = try build(push, stored, key: made, rules: rules, atomicity: row[4]) else { continue }
                body = built
                key = made
            }
            guard let key else { throw FieldMergeError.wrongStore("a push in the store has no key") }
            edits += stored.count
            size += body.count + 1
            if !batch.isEmpty, edits > rules?.limits.edits ?? 1_000 || size > rules?.limits.body ?? 1 << 20 { break }
            // The doubt ends with an answer that says that nothing was written.
            try write(
                "UPDATE push SET state = 1, key = ?, body = ?, doubt = doubt + 1,"
                    + " pulls = CASE WHEN doubt = 0 THEN ? ELSE pulls END WHERE seq = ?",
                [key, Data(body), pulls, push])
            effects.touched.formUnion(stored.map(\.record))
            batch.append(FrozenPush(number: push, key: key, body: body, isKept: false))
        }
        return try needed(for: batch) + batch
    }

    /// Returns the bytes of a push; nil if it cannot be built, and is refused for that.
    private func build(
        _ push: Int64, _ edits: [StoredEdit], key: String, rules: Rules, atomicity: String?
    ) throws -> [UInt8]? {
        do {
            return try encode(edits, key: key, rules: rules, atomicity: atomicity)
        } catch let error as InvalidEdit {
            let problem = ProblemDocument.make(
                "not-built", status: 400, title: "The edit cannot be sent", detail: error.description)
            try refuse(push, problem, fault: 0)
            return nil
        }
    }

    private func encode(
        _ edits: [StoredEdit], key: String, rules: Rules, atomicity: String?
    ) throws -> [UInt8] {
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
        return JSONValue.object(push).bytes
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
    func noteNothingWritten(_ pushes: [Int64]) throws {
        for push in pushes { try write("UPDATE push SET doubt = max(0, doubt - 1) WHERE seq = ?", [push]) }
    }

    /// Returns whether a push may have been merged of which no answer came.
    func isInDoubt() throws -> Bool {
        try number("SELECT 1 FROM push WHERE state = 1 AND doubt > 0 LIMIT 1") != nil
    }

    /// Has a push built anew with a new key: nothing of it was written.
    func thaw(_ push: Int64) throws {
        try checkLease()
        try write(
            "UPDATE push SET state = 0, key = NULL, body = NULL, doubt = 0 WHERE seq = ? AND state = 1", [push])
        try setMeta("rulesDue", true)
        try dropKept()
    }
}
