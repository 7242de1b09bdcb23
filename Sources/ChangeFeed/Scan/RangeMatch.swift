import RecordStore

/// Finds the ranges that may have changed, by the sums of their row digests.
///
/// All changes are between the equal ranges at the start and those at the end. A new row may be next to an equal range,
/// so one equal range with rows on either side is compared too.
struct RangeMatch {
    private(set) var before = 0
    private(set) var behind = 0
    private(set) var rows = (before: 0, behind: 0)

    /// - Parameters:
    ///   - ranges: successive ranges.
    ///   - digests: the digests of their current rows in the order of keys.
    ///   - isWhole: true if all rows of the ranges were read.
    init(_ ranges: ArraySlice<MarkRange>, with digests: [UInt64], isWhole: Bool) {
        var place = 0
        var matched = 0
        for range in ranges {
            let end = place + range.count
            guard end <= digests.count, digests[place..<end].reduce(0, &+) == range.digest else { break }
            // New rows may follow the last range with rows.
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
