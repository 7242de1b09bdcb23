import RecordStore
import Testing
import TestSupport

@testable import ChangeFeed

/// Rows are compared with their stored digests as multisets, since several rows may have the same key.
@Suite struct RangeDiffTests {
    private static func mark(_ key: UInt8, _ digest: UInt64) -> Mark { Mark(key: [key], digest: digest, link: []) }

    @Test("If one of two rows with the same key is deleted, their key is changed", arguments: [1, 2] as [UInt64])
    func oneOfTwoRowsIsDeleted(_ rest: UInt64) {
        let both = [Self.mark(7, 1), Self.mark(7, 2)]
        for stored in [both, both.reversed()] {
            let diff = RangeDiff(stored, with: [Self.mark(7, rest)], isWhole: true)
            #expect(diff.changes == [RangeDiff.Change(former: Self.mark(7, 3 - rest), now: nil)])
        }
    }

    @Test("Rows with the same key in another order are no change")
    func anotherOrder() {
        let both = [Self.mark(7, 1), Self.mark(7, 2)]
        #expect(RangeDiff(both, with: both.reversed(), isWhole: true).changes.isEmpty)
    }

    @Test("The changes turn the stored digests into the rows, and name each key whose rows differ")
    func anyRows() {
        var random = SeededRandom(seed: 3)
        func drawn() -> [Mark] {
            (0..<Int.random(in: 0...6, using: &random)).map { _ in
                Self.mark(.random(in: 0...3, using: &random), .random(in: 0...2, using: &random))
            }
        }
        for _ in 0..<20_000 {
            let (stored, rows) = (drawn(), drawn())
            let isWhole = Bool.random(using: &random)
            let diff = RangeDiff(stored, with: rows, isWhole: isWhole)
            var counts: [Mark: Int] = [:]
            for mark in stored { counts[mark, default: 0] += 1 }
            for mark in diff.left { counts[mark, default: 0] -= 1 }
            for change in diff.changes {
                if let former = change.former { counts[former, default: 0] -= 1 }
                if let now = change.now { counts[now, default: 0] += 1 }
                #expect(change.former != change.now)
                #expect(change.former == nil || change.now == nil || change.former?.key == change.now?.key)
            }
            for mark in rows { counts[mark, default: 0] -= 1 }
            #expect(counts.values.allSatisfy { $0 == 0 })
            #expect(isWhole ? diff.left.isEmpty : diff.losses == 0)
        }
    }
}
