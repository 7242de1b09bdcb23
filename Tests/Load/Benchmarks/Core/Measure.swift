import AllocationCounter

/// The cost of one call.
struct Cost {
    let name: String
    let nanoseconds: Double
    let allocations: Double

    /// Calls a function for about the given time, in rounds, and returns the fastest round.
    ///
    /// Other work of the machine can only make a round slower.
    static func measure(_ name: String, seconds: Double, _ body: () throws -> Void) rethrows -> Cost {
        let clock = ContinuousClock()
        let calls = calls(in: seconds, once: try clock.measure(body))
        for _ in 0..<calls { try body() }
        var best = Double.infinity
        let before = allocation_count()
        for _ in 0..<rounds {
            let time = try clock.measure { for _ in 0..<calls { try body() } }
            best = min(best, time / .nanoseconds(1) / Double(calls))
        }
        let allocations = Double(allocation_count() - before) / Double(calls * rounds)
        return Cost(name: name, nanoseconds: best, allocations: allocations)
    }

    /// The same for asynchronous functions that do not suspend.
    static func measure(_ name: String, seconds: Double, _ body: () async throws -> Void) async rethrows -> Cost {
        let clock = ContinuousClock()
        let calls = calls(in: seconds, once: try await clock.measure { try await body() })
        for _ in 0..<calls { try await body() }
        var best = Double.infinity
        let before = allocation_count()
        for _ in 0..<rounds {
            let time = try await clock.measure { for _ in 0..<calls { try await body() } }
            best = min(best, time / .nanoseconds(1) / Double(calls))
        }
        let allocations = Double(allocation_count() - before) / Double(calls * rounds)
        return Cost(name: name, nanoseconds: best, allocations: allocations)
    }

    private static let rounds = 20

    /// The number of calls in a round, from the time of one call.
    private static func calls(in seconds: Double, once: Duration) -> Int {
        max(1, Int(seconds / Double(rounds) / max(once / .seconds(1), 1e-7)))
    }

    /// Names contain no characters that JSON would escape.
    var json: String { #"{"name":"\#(name)","ns":\#(nanoseconds),"allocations":\#(allocations)}"# }
}

/// Keeps a result from being optimised away.
@inline(never) func keep<Result>(_ result: Result) {}
