/// A stretch of tokens and what another side has in its place; one of the two may be empty.
package struct TokenHunk: Sendable, Hashable {
    /// The tokens of the base that are gone; empty for an addition.
    package let base: Range<Int>
    /// The tokens of the side that stand in their place; empty for a deletion.
    package let side: Range<Int>
}
