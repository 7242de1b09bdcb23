/// Finds the differences between two sequences of tokens, always correct but possibly coarse.
///
/// `MyersSearch` finds small differences exactly. For larger ones, tokens that are unique on both sides become anchors
/// in their longest common order (patience diff). The ranges between them are compared again. Without anchors, the
/// search continues from the furthest point that it reached. The cost is at most the number of tokens times the effort.
///
/// Words are compared first, and other tokens between the common words. So two equal blanks never separate equal words.
package struct TokenDiff {
    private let base: [Int32]
    private let side: [Int32]
    private let effort: Int
    /// For each token of the base the position of its counterpart, or -1.
    private var counterpart: [Int32]
    /// Scratch space by token number, all zero between uses.
    private var baseCounts: [Int32]
    private var sideCounts: [Int32]

    /// The maximum number of times that a range between anchors is divided again.
    private static let maximumDepth = 4

    /// Returns the changes in ascending order, with at least one unchanged token between any two.
    ///
    /// - Parameters:
    ///   - areWords: For each token's number, true if the token is a word.
    ///   - effort: The maximum number of differences that are searched for exactly.
    package static func hunks(
        from base: [Int32], to side: [Int32], areWords: [Bool], effort: Int, spending budget: inout WorkBudget
    ) throws(WorkSpent) -> [TokenHunk] {
        try budget.spend(base.count + side.count)
        if let simple = simple(from: base, to: side) { return simple }
        var diff = TokenDiff(base: base, side: side, idCount: areWords.count, effort: effort)
        try diff.compare(wordsFirst: areWords, spending: &budget)
        return diff.hunks()
    }

    /// Returns the result if the only change is one token, an insertion or a deletion, as in most lines.
    private static func simple(from base: [Int32], to side: [Int32]) -> [TokenHunk]? {
        let shorter = min(base.count, side.count)
        var start = 0
        while start < shorter, base[start] == side[start] { start += 1 }
        var tail = 0
        while tail < shorter - start, base[base.count - 1 - tail] == side[side.count - 1 - tail] { tail += 1 }
        let hunk = TokenHunk(base: start..<base.count - tail, side: start..<side.count - tail)
        if hunk.base.isEmpty, hunk.side.isEmpty { return [] }
        let isSimple = hunk.base.isEmpty || hunk.side.isEmpty || (hunk.base.count == 1 && hunk.side.count == 1)
        return isSimple ? [hunk] : nil
    }

    private init(base: [Int32], side: [Int32], idCount: Int, effort: Int) {
        self.base = base
        self.side = side
        self.effort = effort
        counterpart = [Int32](repeating: -1, count: base.count)
        baseCounts = [Int32](repeating: 0, count: idCount)
        sideCounts = baseCounts
    }

    private func hunks() -> [TokenHunk] {
        var hunks: [TokenHunk] = []
        var start = 0
        var sideStart = 0
        for index in 0...base.count {
            let match = index == base.count ? side.count : Int(counterpart[index])
            guard match >= 0 else { continue }
            if start < index || sideStart < match {
                hunks.append(TokenHunk(base: start..<index, side: sideStart..<match))
            }
            start = index + 1
            sideStart = match + 1
        }
        return hunks
    }

    private mutating func compare(wordsFirst areWords: [Bool], spending budget: inout WorkBudget) throws(WorkSpent) {
        let (xs, ys) = trim(Array(0..<Int32(base.count))[...], ys: Array(0..<Int32(side.count))[...])
        let words = xs.filter { areWords[Int(base[Int($0)])] }
        if words.count < xs.count {
            try compare(words, ys.filter { areWords[Int(side[Int($0)])] }, depth: 0, spending: &budget)
        }
        var (x, y) = (xs.startIndex, ys.startIndex)
        for index in xs.indices where counterpart[Int(xs[index])] >= 0 {
            let match = ys.startIndex + Int(counterpart[Int(xs[index])] - ys[ys.startIndex])
            try compare(Array(xs[x..<index]), Array(ys[y..<match]), depth: 0, spending: &budget)
            (x, y) = (index + 1, match + 1)
        }
        try compare(Array(xs[x...]), Array(ys[y...]), depth: 0, spending: &budget)
    }

    /// Compares the tokens at ascending positions of the base and of the side.
    private mutating func compare(
        _ xs: [Int32], _ ys: [Int32], depth: Int, spending budget: inout WorkBudget
    ) throws(WorkSpent) {
        try budget.spend(xs.count + ys.count)
        let (trimmedX, trimmedY) = trim(xs[...], ys: ys[...])
        if trimmedX.isEmpty || trimmedY.isEmpty { return }
        let (heldX, heldY) = common(trimmedX, ys: trimmedY)
        let (restX, restY) = trim(heldX[...], ys: heldY[...])
        if restX.isEmpty || restY.isEmpty { return }
        let xs = Array(restX)
        let ys = Array(restY)
        var search = MyersSearch(xs.map { base[Int($0)] }, ys.map { side[Int($0)] }, effort: effort)
        if try search.runToEnd(spending: &budget) {
            take(search.matches, of: xs, ys)
            return
        }
        let anchors = depth < Self.maximumDepth ? anchors(xs, ys: ys) : []
        if anchors.isEmpty {
            try search.runOn(spending: &budget)
            take(search.matches, of: xs, ys)
            return
        }
        var (x, y) = (0, 0)
        for (nextX, nextY) in anchors {
            counterpart[Int(xs[nextX])] = ys[nextY]
            try compare(Array(xs[x..<nextX]), Array(ys[y..<nextY]), depth: depth + 1, spending: &budget)
            (x, y) = (nextX + 1, nextY + 1)
        }
        try compare(Array(xs[x...]), Array(ys[y...]), depth: depth + 1, spending: &budget)
    }

    private mutating func take(_ matches: [(Int, Int)], of xs: [Int32], _ ys: [Int32]) {
        for (x, y) in matches { counterpart[Int(xs[x])] = ys[y] }
    }

    /// Matches equal tokens at both ends and removes them.
    private mutating func trim(
        _ xs: ArraySlice<Int32>, ys: ArraySlice<Int32>
    ) -> (ArraySlice<Int32>, ArraySlice<Int32>) {
        var (x, y) = (xs.startIndex, ys.startIndex)
        var (endX, endY) = (xs.endIndex, ys.endIndex)
        while x < endX, y < endY, base[Int(xs[x])] == side[Int(ys[y])] {
            counterpart[Int(xs[x])] = ys[y]
            x += 1
            y += 1
        }
        while x < endX, y < endY, base[Int(xs[endX - 1])] == side[Int(ys[endY - 1])] {
            endX -= 1
            endY -= 1
            counterpart[Int(xs[endX])] = ys[endY]
        }
        return (xs[x..<endX], ys[y..<endY])
    }

    /// Removes the tokens that the other side lacks, because they have no counterpart.
    private mutating func common(_ xs: ArraySlice<Int32>, ys: ArraySlice<Int32>) -> ([Int32], [Int32]) {
        for x in xs { baseCounts[Int(base[Int(x)])] = 1 }
        for y in ys { sideCounts[Int(side[Int(y)])] = 1 }
        let held = (
            xs.filter { sideCounts[Int(base[Int($0)])] > 0 }, ys.filter { baseCounts[Int(side[Int($0)])] > 0 }
        )
        for x in xs { baseCounts[Int(base[Int(x)])] = 0 }
        for y in ys { sideCounts[Int(side[Int(y)])] = 0 }
        return held
    }

    /// Returns the longest sequence of unique tokens that ascends on both sides.
    private mutating func anchors(_ xs: [Int32], ys: [Int32]) -> [(Int, Int)] {
        // A token's position plus one, or -1 if the token is not unique.
        for (index, x) in xs.enumerated() {
            let id = Int(base[Int(x)])
            baseCounts[id] = baseCounts[id] == 0 ? Int32(index + 1) : -1
        }
        for (index, y) in ys.enumerated() {
            let id = Int(side[Int(y)])
            sideCounts[id] = sideCounts[id] == 0 ? Int32(index + 1) : -1
        }
        var candidates: [(Int, Int)] = []
        for (index, x) in xs.enumerated() {
            let id = Int(base[Int(x)])
            if baseCounts[id] > 0, sideCounts[id] > 0 { candidates.append((index, Int(sideCounts[id]) - 1)) }
        }
        for x in xs { baseCounts[Int(base[Int(x)])] = 0 }
        for y in ys { sideCounts[Int(side[Int(y)])] = 0 }
        return LongestAscent.of(candidates)
    }
}
