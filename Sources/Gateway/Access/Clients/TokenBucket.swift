import MergeCore

/// A token bucket that fills by `rate` a second, up to the amount of one second.
struct TokenBucket: Sendable {
    private let rate: Double
    private var level: Double
    private var time: ContinuousClock.Instant

    init(rate: Int, now: ContinuousClock.Instant) {
        self.rate = Double(rate)
        level = Double(rate)
        time = now
    }

    func isFull(at now: ContinuousClock.Instant) -> Bool { level(at: now) >= rate }

    /// Removes `count` from the bucket.
    ///
    /// A full bucket grants any amount.
    ///
    /// - Returns: nil, or the seconds to wait if nothing was removed.
    mutating func take(_ count: Int, at now: ContinuousClock.Instant) -> Int? {
        level = level(at: now)
        time = max(time, now)
        let needed = min(Double(count), rate)
        // Allows for rounding.
        guard level + 1e-9 >= needed else { return max(1, Int(clamping: ((needed - level) / rate).rounded(.up))) }
        level -= Double(count)
        return nil
    }

    private func level(at now: ContinuousClock.Instant) -> Double {
        guard now > time else { return level }
        return min(rate, level + rate * ((now - time) / .seconds(1)))
    }
}
