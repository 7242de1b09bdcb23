import Foundation
import GRDB

/// A lane of pushes, with separate requests.
enum PushLane: Sendable {
    /// The scheduler's.
    case small
    /// One push at a time, in parallel to the scheduler.
    case large

    /// A push with more bytes is large.
    static let largestSmallPush = 256_000
}

/// A push that has no answer yet.
struct PendingPush {
    let number: Int64
    let isSent: Bool
    let key: String?
    let body: [UInt8]
    let atomicity: String?
    let isLarge: Bool
    var edits: [Ledger.StoredEdit]
}

/// The pushes that a lane may send now, in their order.
///
/// It skips the pushes of the other lane and of resources whose records are not fetched yet. A later push waits for skipped
/// pushes that concern a common record or id.
struct QueueWalk {
    private let ledger: Ledger
    private let lane: PushLane
    private let stale: StaleResources
    private let rules: Rules?
    private var passed = PushFootprint()
    private var last: Int64 = 0
    private var rows: ArraySlice<Row> = []

    init(_ ledger: Ledger, _ lane: PushLane, stale: StaleResources) throws {
        self.ledger = ledger
        self.lane = lane
        self.stale = stale
        rules = try ledger.rules()
    }

    /// Returns the next push; nil at the end of the queue.
    mutating func next() throws -> PendingPush? {
        while let push = try nextInQueue() {
            let isStale = !push.isSent && push.edits.contains { stale.contains($0.resource) }
            if push.isLarge == (lane == .large), !isStale {
                if passed.isEmpty { return push }
                if !passed.shares(with: PushFootprint(push.edits, rules)) { return push }
            }
            passOver(push)
        }
        return nil
    }

    /// Makes later pushes wait for a push that cannot be sent now.
    mutating func passOver(_ push: PendingPush) { passed.formUnion(PushFootprint(push.edits, rules)) }

    private mutating func nextInQueue() throws -> PendingPush? {
        if rows.isEmpty {
            rows = try ledger.rows(
                "SELECT seq, state, key, body, atomic,"
                    + " (SELECT sum(length(CAST(changes AS BLOB))) FROM edit WHERE edit.push = push.seq) FROM push"
                    + " WHERE state IN (0, 1) AND seq > ? ORDER BY seq LIMIT 100", [last])[...]
        }
        guard let row = rows.popFirst() else { return nil }
        last = row[0]
        return PendingPush(
            number: row[0], isSent: row[1] as Int == Ledger.PushState.sent.rawValue, key: row[2],
            body: Array((row[3] as Data?) ?? Data()), atomicity: row[4],
            isLarge: (row[5] as Int? ?? 0) > PushLane.largestSmallPush, edits: try ledger.edits(of: row[0]))
    }
}

/// The resources of which nothing is sent now, because their records have another shape than the gateway's rules.
struct StaleResources {
    static let none = StaleResources(kept: [], old: nil, new: nil)

    let kept: Set<String>
    let old: Rules?
    let new: Rules?

    func contains(_ resource: String) -> Bool {
        guard let new else { return false }
        return kept.contains(resource) || old?.resources[resource]?.shape != new.resources[resource]?.shape
    }
}

extension Ledger {
    /// Returns the resources of which nothing is sent before their records are fetched.
    func staleToSend() throws -> StaleResources {
        guard let new = try newRules()?.rules else { return .none }
        return StaleResources(kept: Set(try staleResources(under: new)), old: try rules(), new: new)
    }

    /// Returns whether a lane sends nothing before the scheduler has read the rules.
    func waitsForRules(_ lane: PushLane) throws -> Bool { try lane == .large && !meta("rulesDue").isNull }

    /// Returns whether a lane has a push to send, and none of another history waits for a snapshot.
    ///
    /// The small lane fetches records of another shape before it sends edits of them.
    func hasUnsent(_ lane: PushLane = .small) throws -> Bool {
        guard try meta("otherHistory").isNull, try !waitsForRules(lane) else { return false }
        var walk = try QueueWalk(self, lane, stale: lane == .small ? .none : staleToSend())
        return try walk.next() != nil
    }
}
