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

/// The sides of a conflict: what the client held, what the database held, what the client sent and what stands now.
package struct Conflict: Sendable, Hashable {
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

/// What became of one group or row.
package struct Outcome: Sendable, Hashable {
    /// Position in the resource's `sections`; set by whoever knows the edit's place.
    package var section: Int
    /// The real key of the item, in a list.
    package var item: RowLabel?
    /// nil for the outcome of a whole row.
    package let group: Int?
    package let kind: OutcomeKind
    package var conflict: Conflict?
    /// The row as it was, where the deletion of its record took it along.
    package var deletedRow: [Value]?
    /// What the database deleted or changed by itself along with the row.
    package var cascades: [Cascade] = []

    package init(_ kind: OutcomeKind, section: Int = 0, item: RecordKey? = nil, group: Int? = nil) {
        self.kind = kind
        self.section = section
        self.item = item.map { .key($0) }
        self.group = group
    }
}

/// How a reply names a row.
package enum RowLabel: Sendable, Hashable {
    case key(RecordKey)
    case temporary(TemporaryID)
}
