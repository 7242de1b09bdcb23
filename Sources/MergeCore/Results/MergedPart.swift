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
    /// The value that the base holds there; each side is nil where it holds nothing at all.
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
