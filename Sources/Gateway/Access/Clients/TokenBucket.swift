import MergeCore

/// A bucket that fills by so many a second, up to a second's worth.
struct TokenBucket: Sendable {
    private let rate: Double
    private var level: Double
    private var time: ContinuousClock.Instant

    /// A bucket that is full.
    init(rate: Int, now: ContinuousClock.Instant) {
        self.rate = Double(rate)
        level = Double(rate)
        time = now
    }

    /// Returns true where the bucket is as full as one that nobody has used.
    func isFull(at now: ContinuousClock.Instant) -> Bool { level(at: now) >= rate }

    /// Takes what is asked for, be it more than the bucket holds where it is full.
    ///
    /// - Returns: nil, or the seconds after which there is enough, and then nothing was taken.
    mutating func take(_ count: Int, at now: ContinuousClock.Instant) -> Int? {
        level = level(at: now)
        time = max(time, now)
        let needed = min(Double(count), rate)
        // What a second brings is not told to the last bit.
        guard level + 1e-9 >= needed else { return max(1, Int(clamping: ((needed - level) / rate).rounded(.up))) }
        level -= Double(count)
        return nil
    }

    private func level(at now: ContinuousClock.Instant) -> Double {
        guard now > time else { return level }
        return min(rate, level + rate * ((now - time) / .seconds(1)))
    }
}
