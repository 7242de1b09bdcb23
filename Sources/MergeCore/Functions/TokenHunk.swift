/// A range of base tokens and its replacement, either of which may be empty.
package struct TokenHunk: Sendable, Hashable {
    /// The removed tokens of the base; empty for an insertion.
    package let base: Range<Int>
    /// The new tokens of the side; empty for a deletion.
    package let side: Range<Int>
}
