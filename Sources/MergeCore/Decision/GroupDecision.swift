/// What became of a group or a row; the names of PROTOCOL section 4.
package enum OutcomeKind: String, Sendable, Hashable, CaseIterable {
    case unchanged
    case already
    case applied
    case clientWon = "client-won"
    case serverWon = "server-won"
    case rejected
    case inserted
    case deleted
    case kept
    case missing
}

/// The decision on one group: what to call it and what to write.
package struct GroupDecision: Sendable, Hashable {
    package let outcome: OutcomeKind
    /// The values that the group is to have; nil where nothing is written.
    package let written: [Value]?
    package let isConflict: Bool

    private init(_ outcome: OutcomeKind, written: [Value]? = nil, isConflict: Bool = false) {
        self.outcome = outcome
        self.written = written
        self.isConflict = isConflict
    }

    /// The three-way comparison of one group (PROTOCOL section 4).
    /// - Parameters:
    ///   - base: what the client last read; nil where it held none.
    ///   - edited: what the client wants, every field of the group.
    ///   - current: what the database holds, every field of the group.
    ///   - digest: the digest of a group's values as they stand on the wire; asked only for a base by digest.
    package static func decide(
        base: GroupState?, edited: [Value], current: [Value], policy: ConflictPolicy,
        digest: ([Value]) -> [UInt8]
    ) -> GroupDecision {
        // An edit that changes nothing is no wish, whatever others did meanwhile.
        if let base, base.matches(edited, digest) { return GroupDecision(.unchanged) }
        // Both sides came to the same values: nothing is left to write, and nobody lost anything.
        if edited == current { return GroupDecision(.already) }
        // Only the client changed the group.
        if let base, base.matches(current, digest) { return GroupDecision(.applied, written: edited) }
        // All three differ, or the client held nothing and finds something else.
        switch policy {
        case .clientWins: return GroupDecision(.clientWon, written: edited, isConflict: true)
        case .serverWins: return GroupDecision(.serverWon, isConflict: true)
        case .reject: return GroupDecision(.rejected, isConflict: true)
        }
    }
}

/// A base as the decision sees it: values or their digest.
package enum GroupState: Sendable, Hashable {
    case values([Value])
    case digest([UInt8])

    func matches(_ values: [Value], _ digest: ([Value]) -> [UInt8]) -> Bool {
        switch self {
        case .values(let held): held == values
        case .digest(let held): held == digest(values)
        }
    }
}
