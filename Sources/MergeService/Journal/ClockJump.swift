/// A jump of the database clock, which determines the ages of entries.
///
/// After a jump ahead, all entries look old. So each pruning stores the clock with a stopwatch, which cannot be set. If
/// the two disagree, existing entries stay until their full age has passed since the jump. That is safe whether the
/// clock was right before the jump or is right now.
struct ClockJump: Hashable {
    struct Reading: Hashable {
        /// Seconds since 1970.
        let clock: Int
        let stopwatch: Stopwatch
    }

    /// The clock when the jump was detected.
    let found: Int
    /// The number of the last entry at that moment.
    let last: Int

    /// Seconds that a correct clock may differ, for example after a time synchronisation.
    private static let tolerance = 3_600
    /// Seconds without pruning that are no jump, for example because the machine was off: a long weekend.
    private static let absence = 4 * 86_400

    /// Returns true if the clock and the stopwatch disagree between two readings.
    static func lies(between earlier: Reading, and later: Reading) -> Bool {
        let passed = later.clock - earlier.clock
        guard earlier.stopwatch.boot == later.stopwatch.boot else {
            return passed < -tolerance || passed > absence
        }
        return abs(passed - (later.stopwatch.seconds - earlier.stopwatch.seconds)) > tolerance
    }

    /// Returns the number up to which entries stay regardless of their age; 0 if the jump is long ago.
    func held(days: Int, at clock: Int) -> Int { clock - found >= days * 86_400 ? 0 : last }
}

extension ClockJump.Reading {
    var text: String { "\(clock) \(stopwatch.seconds) \(stopwatch.boot)" }

    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let clock = Int(parts[0]), let seconds = Int(parts[1]) else { return nil }
        self.init(clock: clock, stopwatch: Stopwatch(boot: String(parts[2]), seconds: seconds))
    }
}

extension ClockJump {
    var text: String { "\(found) \(last)" }

    init?(_ text: String) {
        let parts = text.split(separator: " ").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        self.init(found: parts[0], last: parts[1])
    }
}
