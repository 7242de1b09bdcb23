import MergeCore
import Testing
import TestSupport

/// Differences against the longest common subsequence by the table of all prefixes.
@Suite struct TokenDiffTests {
    private static func longestCommon(_ a: [Int32], _ b: [Int32]) -> Int {
        var row = [Int](repeating: 0, count: b.count + 1)
        for x in a {
            var diagonal = 0
            for (index, y) in b.enumerated() {
                let above = row[index + 1]
                row[index + 1] = x == y ? diagonal + 1 : max(above, row[index])
                diagonal = above
            }
        }
        return row[b.count]
    }

    private static func tokens(_ random: inout SeededRandom, longest: Int, kinds: Int32) -> [Int32] {
        (0..<Int.random(in: 0...longest, using: &random)).map { _ in Int32.random(in: 0..<kinds, using: &random) }
    }

    /// Rebuilds the side, and counts the tokens from the base.
    private static func apply(_ hunks: [TokenHunk], _ a: [Int32], _ b: [Int32]) -> (side: [Int32], kept: Int) {
        var side: [Int32] = []
        var kept = 0
        var done = 0
        for hunk in hunks {
            side += a[done..<hunk.base.lowerBound] + b[hunk.side]
            kept += hunk.base.lowerBound - done
            done = hunk.base.upperBound
        }
        return (side + a[done...], kept + a.count - done)
    }

    @Test(arguments: 0..<200) func differencesAreShortest(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<30 {
            let kinds = Int32.random(in: 1...8, using: &random)
            let a = Self.tokens(&random, longest: 30, kinds: kinds)
            let b = Self.tokens(&random, longest: 30, kinds: kinds)
            let hunks = TokenDiff.hunks(
                from: a, to: b, areWords: Array(repeating: true, count: Int(kinds)), effort: 1_000)
            let (side, kept) = Self.apply(hunks, a, b)
            #expect(side == b, "seed \(seed): \(a) \(b)")
            #expect(kept == Self.longestCommon(a, b), "seed \(seed): \(a) \(b)")
        }
    }

    @Test("No difference keeps fewer words in order to keep more other tokens", arguments: 0..<200)
    func wordsComeFirst(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<30 {
            let kinds = Int32.random(in: 2...8, using: &random)
            let areWords = (0..<kinds).map { _ in Bool.random(using: &random) }
            let a = Self.tokens(&random, longest: 30, kinds: kinds)
            let b = Self.tokens(&random, longest: 30, kinds: kinds)
            let hunks = TokenDiff.hunks(from: a, to: b, areWords: areWords, effort: 1_000)
            #expect(Self.apply(hunks, a, b).side == b, "seed \(seed): \(a) \(b)")
            let removed = Set(hunks.flatMap(\.base))
            let kept = a.indices.filter { !removed.contains($0) && areWords[Int(a[$0])] }
            let words = [a, b].map { $0.filter { areWords[Int($0)] } }
            #expect(kept.count == Self.longestCommon(words[0], words[1]), "seed \(seed): \(a) \(b)")
        }
    }

    @Test("Differences are correct also with a small budget", arguments: 0..<200)
    func littleEffort(seed: Int) {
        var random = SeededRandom(seed: seed)
        for effort in [1, 2, 5] {
            let kinds = Int32.random(in: 1...200, using: &random)
            let a = Self.tokens(&random, longest: 200, kinds: kinds)
            let b = Self.tokens(&random, longest: 200, kinds: kinds)
            let hunks = TokenDiff.hunks(
                from: a, to: b, areWords: Array(repeating: true, count: Int(kinds)), effort: effort)
            #expect(Self.apply(hunks, a, b).side == b, "seed \(seed): \(a) \(b)")
            #expect(
                zip(hunks, hunks.dropFirst()).allSatisfy { $0.base.upperBound < $1.base.lowerBound }, "seed \(seed)")
            #expect(
                TokenDiff.hunks(from: a, to: a, areWords: Array(repeating: true, count: Int(kinds)), effort: effort)
                    .isEmpty, "seed \(seed)")
        }
    }
}
