import RecordStore
import Testing

@testable import ChangeFeed

/// The comparison of a reader with the end of its log.
@Suite struct LogStallTests {
    private struct Check {
        let read: Int
        let end: Int
        /// The seconds since the first check.
        let second: Int
    }

    private enum Result {
        case none, lost, stalled
    }

    private static let begin = ContinuousClock.now

    /// Returns the result of the last check.
    private static func result(of checks: [Check]) -> Result {
        var stall = LogStall(ScriptedLog())
        var result = Result.none
        for check in checks {
            let error = stall.check(
                read: "\(check.read)", end: "\(check.end)", now: begin + .seconds(check.second))
            switch error {
            case nil: result = .none
            case .unusablePosition: result = .lost
            case .failed, .refused: result = .stalled
            }
        }
        return result
    }

    private static func check(_ read: Int, _ end: Int, _ second: Int) -> Check {
        Check(read: read, end: end, second: second)
    }

    @Test("Only an end that is twice before the reader is another log")
    func restartedLog() {
        #expect(Self.result(of: [Self.check(9, 3, 0)]) == .none)
        #expect(Self.result(of: [Self.check(9, 3, 0), Self.check(9, 4, 1)]) == .lost)
        #expect(Self.result(of: [Self.check(9, 3, 0), Self.check(9, 9, 1), Self.check(9, 4, 2)]) == .none)
    }

    @Test("A reader without progress is stalled after 20 seconds, unless it has reached the former end")
    func stalledReader() {
        #expect(Self.result(of: [Self.check(3, 9, 0), Self.check(3, 9, 19)]) == .none)
        #expect(Self.result(of: [Self.check(3, 9, 0), Self.check(3, 12, 20)]) == .stalled)
        #expect(Self.result(of: [Self.check(3, 9, 0), Self.check(4, 9, 10), Self.check(4, 9, 20)]) == .none)
        #expect(Self.result(of: [Self.check(9, 9, 0), Self.check(9, 9, 60)]) == .none)
    }
}
