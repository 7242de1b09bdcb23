import RecordStore
import Testing

@testable import ChangeFeed

/// The passes that a reader of the row log demands.
@Suite struct PassAgendaTests {
    private static let now = ContinuousClock.now
    private static let hour = Duration.seconds(3_600)

    /// An agenda of a log that has been followed since a cycle began.
    private static func following() -> PassAgenda {
        let agenda = PassAgenda()
        agenda.begin()
        agenda.hasRead(to: "1")
        agenda.hasCaughtUp()
        agenda.hasBegunCycle(now: now)
        return agenda
    }

    @Test("Without a log, or before a cycle and after an hour, all sections are due")
    func cycles() {
        let agenda = PassAgenda()
        #expect(agenda.due(now: Self.now, interval: Self.hour) == nil)
        agenda.hasBegunCycle(now: Self.now)
        #expect(agenda.due(now: Self.now, interval: Self.hour) == nil)
        let followed = Self.following()
        #expect(followed.due(now: Self.now, interval: Self.hour) == [])
        #expect(followed.due(now: Self.now + .seconds(3_599), interval: Self.hour) == [])
        #expect(followed.due(now: Self.now + Self.hour, interval: Self.hour) == nil)
        followed.stop()
        #expect(followed.due(now: Self.now, interval: Self.hour) == nil)
    }

    @Test("While the log is followed, demanded sections and those that it does not contain are due")
    func demandedSections() {
        let agenda = Self.following()
        agenda.setUnwatched(["v/v"])
        agenda.demand(["a/a"])
        #expect(agenda.due(now: Self.now, interval: Self.hour) == ["a/a", "v/v"])
        #expect(["a/a", "v/v", "b/b"].map { agenda.readerCovering($0) } == [nil, nil, 1])
    }

    @Test("A pass fulfils only demands from before its beginning")
    func laterDemand() throws {
        let agenda = Self.following()
        agenda.demand(["a/a"])
        let first = try #require(agenda.demand(for: "a/a"))
        agenda.demand(["a/a", "b/b"])
        agenda.fulfil(first, for: "a/a", now: Self.now)
        #expect(agenda.due(now: Self.now, interval: Self.hour) == ["a/a", "b/b"])
        for section in ["a/a", "b/b"] {
            let demand = try #require(agenda.demand(for: section))
            #expect(agenda.progress?.needsPasses == true)
            agenda.fulfil(demand, for: section, now: Self.now)
        }
        #expect(agenda.due(now: Self.now, interval: Self.hour) == [])
        #expect(agenda.progress == LogProgress(position: "1", needsPasses: false))
    }

    @Test("Demands survive the end of a reader, and its position does not")
    func stoppedReader() {
        let agenda = Self.following()
        agenda.demand(["a/a"])
        agenda.stop()
        #expect(agenda.demand(for: "a/a") != nil)
        #expect(agenda.progress == nil)
        #expect(!agenda.isReading && !agenda.isFollowing && agenda.readerCovering("b/b") == nil)
        agenda.begin()
        agenda.hasCaughtUp()
        #expect(agenda.readerCovering("b/b") == 2)
    }

    @Test("A reader that has not caught up covers no section")
    func readerThatReads() {
        let agenda = PassAgenda()
        agenda.begin()
        agenda.hasRead(to: "1")
        agenda.hasBegunCycle(now: Self.now)
        #expect(agenda.isReading && !agenda.isFollowing && agenda.readerCovering("a/a") == nil)
        #expect(agenda.due(now: Self.now, interval: Self.hour) == nil)
    }

    @Test("Delivery records lead to a pass if they are many, or follow a demanded pass")
    func deliveryRecords() throws {
        let agenda = Self.following()
        #expect(agenda.due(["a/a": 249, "b/b": 250], now: Self.now) == ["b/b"])
        agenda.demand(["a/a"])
        agenda.fulfil(try #require(agenda.demand(for: "a/a")), for: "a/a", now: Self.now)
        #expect(agenda.due(["a/a": 1], now: Self.now + .seconds(89)) == ["a/a"])
        #expect(agenda.due(["a/a": 1], now: Self.now + .seconds(90)) == [])
    }
}
