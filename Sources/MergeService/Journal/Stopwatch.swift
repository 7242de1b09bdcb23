/// A clock that cannot be set: the seconds since the machine was started, including sleep.
package struct Stopwatch: Sendable, Hashable {
    /// The name of this start of the machine.
    package let boot: String
    /// Seconds since the start.
    package let seconds: Int

    /// Creates a reading.
    ///
    /// - Parameter boot: names one start of one machine, without a space.
    package init(boot: String, seconds: Int) {
        self.boot = boot
        self.seconds = seconds
    }
}
