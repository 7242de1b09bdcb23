/// The longest ascending series by patience sorting.
enum LongestAscent {
    /// A longest series of pairs, ascending in both numbers, of pairs that ascend in the first.
    static func of(_ pairs: [(Int, Int)]) -> [(Int, Int)] {
        // The top of each pile, and for each pair the top of the pile before it when it was laid down.
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
