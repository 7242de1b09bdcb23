/// The effect of an entry of the journal on a row, as far as its fields are known.
package struct RowEffect: Sendable, Hashable {
    /// Position in the resource's `sections`.
    package let section: Int
    /// The key of the row in its section.
    package let key: RecordKey
    /// By field; nil where there was no row.
    package let before: [Int: Value]?
    /// By field; nil where no row is left.
    package let after: [Int: Value]?

    /// Makes the effect on one row.
    package init(section: Int, key: RecordKey, before: [Int: Value]?, after: [Int: Value]?) {
        self.section = section
        self.key = key
        self.before = before
        self.after = after
    }
}
