/// Counts the batches of a queue by their size.
package struct BatchSizes: Sendable, Hashable {
    /// The largest sizes of the counters.
    package static let bounds = [1, 2, 4, 8, 16, 32, 64, 128]
    /// The number of batches for each bound; larger batches are only in `count`.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// The items of all batches.
    package private(set) var sum = 0
    /// The number of batches.
    package private(set) var count = 0

    mutating func add(_ size: Int) {
        sum += size
        count += 1
        if let bucket = Self.bounds.firstIndex(where: { size <= $0 }) { counts[bucket] += 1 }
    }
}

/// A queue at one moment.
package struct QueueLoad: Sendable, Hashable {
    /// The kind of items.
    package let name: String
    /// The number of items that wait for a transaction.
    package let waiting: Int
    /// The batches that have run.
    package let sizes: BatchSizes
}
