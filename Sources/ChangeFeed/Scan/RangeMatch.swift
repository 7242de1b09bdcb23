import RecordStore

/// The ranges among many of which some row may have changed, found by the digests of all their rows together.
///
/// Pure. Where the first rows are those of the first ranges, and the last rows those of the last, what has changed lies
/// between. A new row can lie behind the last known row of the range before it, or before the first of the range behind it;
/// so one range with rows on either side is looked at as well.
struct RangeMatch {
    /// The ranges at the beginning whose rows are as they were.
    private(set) var before = 0
    /// The ranges at the end whose rows are as they were.
    private(set) var behind = 0
    /// Rows of those at the beginning, and at the end.
    private(set) var rows = (before: 0, behind: 0)

    /// - Parameters:
    ///   - ranges: the ranges, one behind the other.
    ///   - digests: those of the rows in them as they were read, in the order of the keys.
    ///   - isWhole: no rows are left behind those that were read.
    init(_ ranges: ArraySlice<MarkRange>, with digests: [UInt64], isWhole: Bool) {
        var place = 0
        var matched = 0
        for range in ranges {
            let end = place + range.count
            guard end <= digests.count, digests[place..<end].reduce(0, &+) == range.digest else { break }
            // The last one with rows may have new ones behind them.
            if range.count > 0 { (before, rows.before) = (matched, place) }
            matched += 1
            place = end
        }
        guard isWhole else { return }
        var rest = digests.count
        let least = place
        var tail = 0
        for range in ranges.dropFirst(matched).reversed() {
            let start = rest - range.count
            guard start >= least, digests[start..<rest].reduce(0, &+) == range.digest else { break }
            if range.count > 0 { (behind, rows.behind) = (tail, digests.count - rest) }
            tail += 1
            rest = start
        }
    }
}
