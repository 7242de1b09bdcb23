/// Counts requests by their duration.
struct Histogram {
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    private(set) var counts = [Int](repeating: 0, count: bounds.count)
    private(set) var sum = 0.0
    private(set) var count = 0

    mutating func add(_ seconds: Double) {
        sum += seconds
        count += 1
        if let bucket = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[bucket] += 1 }
    }
}
