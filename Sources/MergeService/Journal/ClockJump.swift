/// Jumps of the clock by which the ages of the journal's entries are told.
///
/// A clock that jumps ahead makes everything older than it is. So each time the journal is pruned, what the clock says is
/// kept beside a stopwatch that nobody sets; where the two disagree, all entries that there are stay until their age has
/// passed since the jump, be it by the clock that was right before or by the one that is right now.
struct ClockJump: Hashable {
    /// The clock beside a stopwatch, at one moment.
    struct Reading: Hashable {
        /// Seconds since 1970.
        let clock: Int
        let stopwatch: Stopwatch
    }

    /// The time by the clock, in seconds since 1970, at which the jump was found.
    let found: Int
    /// The number of the last entry there was then.
    let last: Int

    /// Seconds by which a clock that is kept right may differ, as it does when it is set by another.
    private static let tolerance = 3_600
    /// Seconds that a machine may have been off, or another gateway been at work, without being held for a jump: a long
    /// weekend.
    private static let absence = 4 * 86_400

    /// Returns true where the clock went otherwise than the stopwatch between two readings.
    static func lies(between earlier: Reading, and later: Reading) -> Bool {
        let passed = later.clock - earlier.clock
        guard earlier.stopwatch.boot == later.stopwatch.boot else {
            return passed < -tolerance || passed > absence
        }
        return abs(passed - (later.stopwatch.seconds - earlier.stopwatch.seconds)) > tolerance
    }

    /// Returns the number up to which entries stay whatever their age seems to be; 0 where the jump was that long ago.
    func held(days: Int, at clock: Int) -> Int { clock - found >= days * 86_400 ? 0 : last }
}

extension ClockJump.Reading {
    /// The reading as the journal keeps it.
    var text: String { "\(clock) \(stopwatch.seconds) \(stopwatch.boot)" }

    /// Reads `text`; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let clock = Int(parts[0]), let seconds = Int(parts[1]) else { return nil }
        self.init(clock: clock, stopwatch: Stopwatch(boot: String(parts[2]), seconds: seconds))
    }
}

extension ClockJump {
    /// The jump as the journal keeps it.
    var text: String { "\(found) \(last)" }

    /// Reads `text`; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        self.init(found: parts[0], last: parts[1])
    }
}
