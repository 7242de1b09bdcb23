/// One side of a conflict, as the reply shows it.
package enum Shown: Sendable, Hashable {
    case null
    /// The values of the outcome's group.
    case group([Value])
    /// Some fields of the outcome's section.
    case fields([Int], [Value])
    /// A whole row of the outcome's section.
    case row([Value])
    /// A base of which the client sent only the digest.
    case digest([UInt8])
}

/// What met in a group or row: what the client held, what the database held, what the client sent and what stands now.
package struct Sides: Sendable, Hashable {
    package let base: Shown
    package let current: Shown
    package let edited: Shown
    package var written: Shown

    package init(base: Shown, current: Shown, edited: Shown, written: Shown) {
        self.base = base
        self.current = current
        self.edited = edited
        self.written = written
    }
}

/// A place inside a value that both sides changed, and which of them stands there.
package struct MergedPart: Sendable, Hashable {
    /// Where in the value it is.
    package enum Place: Sendable, Hashable {
        /// A line of the merged text, counted from 1.
        case line(Int)
        /// A JSON Pointer (RFC 6901).
        case member(String)
    }

    package let place: Place
    package let winner: MergeSide
    /// What the sides hold there; nil where they hold nothing at all.
    package let base: JSONTree?
    package let current: JSONTree?
    package let edited: JSONTree?
    package let written: JSONTree?

    package init(
        place: Place, winner: MergeSide, base: JSONTree?, current: JSONTree?, edited: JSONTree?, written: JSONTree?
    ) {
        self.place = place
        self.winner = winner
        self.base = base
        self.current = current
        self.edited = edited
        self.written = written
    }
}

/// What became of one group or row.
package struct Outcome: Sendable, Hashable {
    /// Position in the resource's `sections`; set by whoever knows the edit's place.
    package var section: Int
    /// The real key of the item, in a list.
    package var item: RowLabel?
    /// nil for the outcome of a whole row.
    package let group: Int?
    package var kind: OutcomeKind
    /// The rule that decided.
    package var rule: RuleReference
    /// What met here; nil where nothing did, such as in the deletion of a row that is gone.
    package var sides: Sides?
    /// The client's wish met another change, which it is told.
    package var isConflict: Bool
    /// Where a merge function had to choose a side.
    package var parts: [MergedPart] = []
    /// Why the rule's merge function did not decide.
    package var fallback: String?
    /// The row as it was, where the deletion of its record took it along.
    package var deletedRow: [Value]?
    /// The row that was deleted with all its columns, for the journal.
    package var wholeRow: RawRow?
    /// What the database deleted or changed by itself along with the row, or would have.
    package var cascades: [Cascade] = []

    package init(
        _ kind: OutcomeKind, section: Int = 0, item: RecordKey? = nil, group: Int? = nil,
        rule: RuleReference = .default, sides: Sides? = nil, isConflict: Bool = false
    ) {
        self.kind = kind
        self.section = section
        self.item = item.map { .key($0) }
        self.group = group
        self.rule = rule
        self.sides = sides
        self.isConflict = isConflict
    }

    /// The sides, where they are in conflict.
    package var conflict: Sides? { isConflict ? sides : nil }
}

/// How a reply names a row.
package enum RowLabel: Sendable, Hashable {
    case key(RecordKey)
    case temporary(TemporaryID)
}
