/// A stretch of the base that at least one side changed, and what each side has in its place, in tokens.
struct TextRegion {
    var base: Range<Int>
    var edited: Range<Int>
    var current: Range<Int>
    var isEdited: Bool
    var isCurrentChanged: Bool

    /// The changes of both sides, put together where they overlap (diff3).
    ///
    /// Two changes overlap where they share a token of the base, where one inserts inside the other, and where both
    /// insert at the same point. Changes that only touch stay apart: one side may change a line and the other the next
    /// one, and an insertion at the edge of the other side's change stands at that edge.
    ///
    /// Source: Sanjeev Khanna, Keshav Kunal and Benjamin C. Pierce, "A Formal Investigation of Diff3", 2007.
    static func all(edited: [TokenHunk], current: [TokenHunk]) -> [TextRegion] {
        var regions: [TextRegion] = []
        var edits = HunkReader(edited)
        var changes = HunkReader(current)
        while let first = HunkReader.first(edits, changes) {
            let (editShift, changeShift) = (edits.shift, changes.shift)
            var base = first
            var isEdited = false
            var isCurrentChanged = false
            while true {
                if edits.take(overlapping: &base) {
                    isEdited = true
                } else if changes.take(overlapping: &base) {
                    isCurrentChanged = true
                } else {
                    break
                }
            }
            regions.append(
                TextRegion(
                    base: base, edited: base.lowerBound + editShift..<base.upperBound + edits.shift,
                    current: base.lowerBound + changeShift..<base.upperBound + changes.shift,
                    isEdited: isEdited, isCurrentChanged: isCurrentChanged))
        }
        return regions
    }

    /// Returns true where the next region follows without a token between.
    func touches(_ next: TextRegion) -> Bool { base.upperBound == next.base.lowerBound }

    /// This region with those that follow it up to `last`, which touch.
    func extended(to last: TextRegion) -> TextRegion {
        TextRegion(
            base: base.lowerBound..<last.base.upperBound, edited: edited.lowerBound..<last.edited.upperBound,
            current: current.lowerBound..<last.current.upperBound, isEdited: true, isCurrentChanged: true)
    }
}

/// One side's changes, read from the first to the last.
private struct HunkReader {
    private var rest: ArraySlice<TokenHunk>
    /// The distance of a token in the side from its place in the base, after the changes read so far.
    private(set) var shift = 0

    init(_ hunks: [TokenHunk]) {
        rest = hunks[...]
    }

    /// The stretch that comes first; of two that begin together the shorter, so an insertion comes before its place.
    static func first(_ a: HunkReader, _ b: HunkReader) -> Range<Int>? {
        guard let x = a.rest.first?.base, let y = b.rest.first?.base else {
            return a.rest.first?.base ?? b.rest.first?.base
        }
        return (x.lowerBound, x.upperBound) <= (y.lowerBound, y.upperBound) ? x : y
    }

    mutating func take(overlapping base: inout Range<Int>) -> Bool {
        guard let next = rest.first, next.base.lowerBound < base.upperBound || next.base == base else { return false }
        base = base.lowerBound..<max(base.upperBound, next.base.upperBound)
        shift = next.side.upperBound - next.base.upperBound
        rest.removeFirst()
        return true
    }
}
