/// A part of a value that both sides changed, and the side that won.
package struct MergedPart: Sendable, Hashable {
    /// The location of the part in the value.
    package enum Place: Sendable, Hashable {
        /// A line of the merged text, counted from 1.
        case line(Int)
        /// A JSON Pointer (RFC 6901).
        case member(String)
    }

    /// The location of the part.
    package let place: Place
    /// The side whose part was written.
    package let winner: MergeSide
    /// The part in the base, or nil if the base lacks it.
    package let base: JSONTree?
    /// The part in the database, or nil if the current value lacks it.
    package let current: JSONTree?
    /// The part that the client sent, or nil if the edited value lacks it.
    package let edited: JSONTree?
    /// The part after the merge, or nil if the result lacks it.
    package let written: JSONTree?

    /// Creates a part of a merged value.
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
