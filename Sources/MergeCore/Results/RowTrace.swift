/// The trace of a row in an entry of the journal, for one that is to come back.
package enum RowTrace: Sendable, Hashable {
    /// The values that some of its fields held from then on.
    case fields([Int: Value])
    /// The whole row as it was when it was deleted, by its columns' names, and its fields.
    case whole([Int: Value], RawRow)
}

/// The effect of an entry of the journal on a row, as far as its fields are known.
package struct RowEffect: Sendable, Hashable {
    /// Position in the resource's `sections`.
    package let section: Int
    package let key: RecordKey
    /// By field; nil where there was no row.
    package let before: [Int: Value]?
    /// By field; nil where no row is left.
    package let after: [Int: Value]?

    package init(section: Int, key: RecordKey, before: [Int: Value]?, after: [Int: Value]?) {
        self.section = section
        self.key = key
        self.before = before
        self.after = after
    }
}
