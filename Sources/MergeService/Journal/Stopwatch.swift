/// A reading of a clock that nobody sets: the seconds since the machine was started, asleep or not.
package struct Stopwatch: Sendable, Hashable {
    /// The name of the start that the seconds count from.
    package let boot: String
    /// Seconds since then.
    package let seconds: Int

    /// - Parameter boot: names one start of one machine, without a space.
    package init(boot: String, seconds: Int) {
        self.boot = boot
        self.seconds = seconds
    }
}
