/// A range of the base that at least one side changed, with the ranges of both sides, in tokens.
struct TextRegion {
    var base: Range<Int>
    var edited: Range<Int>
    var current: Range<Int>
    var isEdited: Bool
    var isCurrentChanged: Bool

    /// Joins the changes of both sides if they overlap (diff3).
    ///
    /// Two changes overlap if they share a token of the base or insert at the same point. They also overlap if one
    /// inserts inside the other. Changes that only touch stay separate, also an insertion at the edge of the other
    /// side's change.
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

    func touches(_ next: TextRegion) -> Bool { base.upperBound == next.base.lowerBound }

    /// Returns the union of this region and the touching regions up to `last`.
    func extended(to last: TextRegion) -> TextRegion {
        TextRegion(
            base: base.lowerBound..<last.base.upperBound, edited: edited.lowerBound..<last.edited.upperBound,
            current: current.lowerBound..<last.current.upperBound, isEdited: true, isCurrentChanged: true)
    }
}

/// Reads one side's changes from first to last.
private struct HunkReader {
    private var rest: ArraySlice<TokenHunk>
    /// The offset from base to side after the changes that were read so far.
    private(set) var shift = 0

    init(_ hunks: [TokenHunk]) {
        rest = hunks[...]
    }

    /// Returns the range that begins first, or the shorter of two that begin together.
    ///
    /// So an insertion comes before the tokens at its point.
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
