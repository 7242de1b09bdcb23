/// The comparison of two sets of rules on one outcome of the journal.
package enum RehearsalVerdict: Sendable {
    case same
    case different(RehearsalDifference)
    case unjudged(UnjudgedReason)
}

/// The different decisions of two sets of rules on one outcome of the journal.
package struct RehearsalDifference: Sendable {
    /// The decision of the active rules.
    package let active: RehearsedDecision
    /// The decision of the new rules.
    package let new: RehearsedDecision

    /// The effect of a difference; the most important one is the first.
    package enum Effect: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// The new rules refuse the push.
        case refused
        /// The new rules do not write a value of the client, or a row.
        case lost
        /// The new rules overwrite a value of the database, or delete a row.
        case overwritten
        /// Only the active rules refuse the push.
        case accepted
        case other

        package static func < (a: Effect, b: Effect) -> Bool { a.rawValue < b.rawValue }
    }

    /// The most important effect of the difference.
    package var effect: Effect {
        let (before, after) = (Set(active.kinds), Set(new.kinds))
        if after.contains(.rejected) != before.contains(.rejected) {
            return after.contains(.rejected) ? .refused : .accepted
        }
        let pairs = zip(active.fields, new.fields)
        if pairs.contains(where: { $0 != .database && $1 == .database }) || before.contains(.restored)
            || after.contains(.kept)
        {
            return .lost
        }
        return pairs.contains { $0 != .client && $1 == .client } || after.contains(.deleted) ? .overwritten : .other
    }
}
