enum LongestAscent {
    /// Returns a longest subsequence that ascends in both numbers, by patience sorting.
    ///
    /// The pairs must ascend in their first number.
    static func of(_ pairs: [(Int, Int)]) -> [(Int, Int)] {
        // `tops` contains the top of each pile. `previous` contains, for each pair, the top of the pile before it at
        // that time.
        var tops: [Int] = []
        var previous = [Int](repeating: -1, count: pairs.count)
        for (index, pair) in pairs.enumerated() {
            var low = 0
            var high = tops.count
            while low < high {
                let middle = (low + high) / 2
                if pairs[tops[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = tops[low - 1] }
            if low == tops.count { tops.append(index) } else { tops[low] = index }
        }
        var series: [(Int, Int)] = []
        var index = tops.last ?? -1
        while index >= 0 {
            series.append(pairs[index])
            index = previous[index]
        }
        return series.reversed()
    }
}
