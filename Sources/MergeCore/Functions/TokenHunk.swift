/// A stretch of tokens and what another side has in its place; one of the two may be empty.
package struct TokenHunk: Sendable, Hashable {
    package let base: Range<Int>
    package let side: Range<Int>
}
