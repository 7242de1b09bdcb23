import Foundation

/// The time of the library, which tests can move.
public protocol StoreClock: Sendable {
    /// Returns the seconds since 1970.
    func now() -> Double
    /// Returns seconds that only grow.
    func monotonic() -> Double
    /// Waits; throws where the task is cancelled.
    func sleep(seconds: Double) async throws
}

/// The clock of the device.
public struct SystemClock: StoreClock {
    /// Makes the clock.
    public init() {}

    /// Returns the seconds since 1970.
    public func now() -> Double { Date().timeIntervalSince1970 }

    /// Returns seconds that only grow.
    public func monotonic() -> Double {
        let passed = ContinuousClock.now - Self.start
        return Double(passed.components.seconds) + Double(passed.components.attoseconds) * 1e-18
    }

    /// Waits; throws where the task is cancelled.
    public func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds)) }

    private static let start = ContinuousClock.now
}
