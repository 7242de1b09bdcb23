import RecordStore
import Testing
import TestSupport

@testable import ChangeFeed

/// The ranges in which rows have changed are found by the digests of all rows together.
@Suite struct RangeMatchTests {
    /// Rows are inserted, deleted and changed at random, also at the ends of ranges and in ranges without rows.
    @Test("Each changed row is in a range that is read")
    func changes() {
        var random = SeededRandom(seed: 21)
        var spared = 0
        for _ in 0..<5_000 {
            // Each row is its key with a version. A range ends with a key, which need not exist.
            var rows: [Int: UInt64] = [:]
            for key in 0..<40 where Bool.random(using: &random) {
                rows[key] = .random(in: .min ... .max, using: &random)
            }
            var highs = (0..<39).filter { _ in Int.random(in: 0..<5, using: &random) == 0 }
            highs.append(40)
            func range(of key: Int) -> Int { highs.firstIndex { key <= $0 } ?? 0 }
            let ranges = highs.indices.map { index in
                let held = rows.filter { range(of: $0.key) == index }
                return MarkRange(
                    id: index, next: nil, high: nil, count: held.count, digest: held.values.reduce(0, &+))
            }
            var now = rows
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let key = Int.random(in: 0..<40, using: &random)
                now[key] = Bool.random(using: &random) ? nil : .random(in: .min ... .max, using: &random)
            }
            let limit = Bool.random(using: &random) ? 100 : rows.count + Int.random(in: 1...2, using: &random)
            let digests = now.sorted { $0.key < $1.key }.map(\.value).prefix(limit)
            let match = RangeMatch(ranges[...], with: Array(digests), isWhole: digests.count < limit)
            let changed = Set((0..<40).filter { rows[$0] != now[$0] }.map { range(of: $0) })
            let looked = match.before..<(ranges.count - match.behind)
            #expect(changed.allSatisfy { looked.contains($0) })
            func rowsOf(_ part: Range<Int>) -> Int { ranges[part].reduce(0) { $0 + $1.count } }
            #expect(match.rows.before == rowsOf(0..<match.before))
            #expect(match.rows.behind == rowsOf(looked.upperBound..<ranges.count))
            spared += ranges.count - looked.count
        }
        #expect(spared > 5_000)
    }

    @Test("For one changed row only its range and the next ones are read")
    func otherRanges() {
        let digests = (0..<100).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }
        let ranges = (0..<10).map { index in
            MarkRange(
                id: index, next: nil, high: nil, count: 10,
                digest: digests[index * 10..<index * 10 + 10].reduce(0, &+))
        }
        var now = digests
        now[55] = 1
        let match = RangeMatch(ranges[...], with: now, isWhole: true)
        #expect(match.before == 4 && match.behind == 3)
    }
}
