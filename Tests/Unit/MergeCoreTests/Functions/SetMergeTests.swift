import MergeCore
import Testing
import TestSupport

/// Sets that both sides change.
@Suite struct SetMergeTests {
    static let cases: [(base: [String]?, edited: [String], current: [String], merged: [String])] = [
        (["a", "b"], ["a", "b", "c"], ["a", "b", "d"], ["a", "b", "d", "c"]),
        (["a", "b"], ["b"], ["b", "a", "c"], ["b", "c"]), (["a"], ["a", "x"], [], ["x"]),
        (["a", "b"], ["b", "a"], ["a", "b", "c"], ["a", "b", "c"]), (nil, ["b", "c"], ["a", "b"], ["a", "b", "c"]),
        ([], ["c", "b"], ["b", "a"], ["b", "a", "c"]), (["a"], ["x", "x"], ["a", "y", "y"], ["y", "x"]),
        (["a"], [], [], []),
    ]

    @Test(arguments: 0..<cases.count) func merges(index: Int) {
        let test = Self.cases[index]
        #expect(SetMerge.merge(base: test.base, edited: test.edited, current: test.current) == test.merged)
    }

    private static func set(_ random: inout SeededRandom) -> [Int] {
        (0..<12).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
    }

    /// The oracle decides each member alone.
    @Test("The merged set has the members of the oracle", arguments: 0..<200)
    func members(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let (b, e, c) = (Self.set(&random), Self.set(&random), Self.set(&random))
            let merged = SetMerge.merge(base: b, edited: e, current: c)
            for member in 0..<12 {
                let wasThere = b.contains(member)
                let isAdded = !wasThere && (e.contains(member) || c.contains(member))
                let isRemoved = wasThere && !(e.contains(member) && c.contains(member))
                #expect(
                    merged.contains(member) == (isAdded || (wasThere && !isRemoved)), "seed \(seed): \(b) \(e) \(c)")
            }
            let kept = c.filter(merged.contains)
            #expect(
                merged == kept + e.filter { merged.contains($0) && !c.contains($0) }, "seed \(seed): \(b) \(e) \(c)")
            #expect(Set(SetMerge.merge(base: nil, edited: e, current: c)) == Set(e + c), "seed \(seed)")
        }
    }

    @Test(arguments: 0..<200) func lawsHold(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let (b, e, c) = (Self.set(&random), Self.set(&random), Self.set(&random))
            #expect(Set(SetMerge.merge(base: b, edited: e, current: b)) == Set(e), "seed \(seed)")
            #expect(SetMerge.merge(base: b, edited: b, current: c) == c, "seed \(seed)")
            #expect(SetMerge.merge(base: b, edited: c, current: c) == c, "seed \(seed)")
            let swapped = SetMerge.merge(base: b, edited: c, current: e)
            #expect(Set(SetMerge.merge(base: b, edited: e, current: c)) == Set(swapped), "seed \(seed)")
        }
    }
}
