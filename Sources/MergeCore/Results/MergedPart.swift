/// A place inside a value that both sides changed, and which of them stands there.
package struct MergedPart: Sendable, Hashable {
    /// The place inside the value.
    package enum Place: Sendable, Hashable {
        /// A line of the merged text, counted from 1.
        case line(Int)
        /// A JSON Pointer (RFC 6901).
        case member(String)
    }

    /// The place where both had changed.
    package let place: Place
    /// The side that stands there now.
    package let winner: MergeSide
    /// The value that the base holds there; each side is nil where it holds nothing at all.
    package let base: JSONTree?
    /// The value that the database held there.
    package let current: JSONTree?
    /// The value that the client sent there.
    package let edited: JSONTree?
    /// The value that stands there now.
    package let written: JSONTree?

    /// Makes a part of a merged value.
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
