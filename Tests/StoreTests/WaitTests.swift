import RecordStore
import Testing

/// One wait, and the room that is made of waits.
@Suite struct WaitTests {
    private let far = ContinuousClock.now + .seconds(600)

    @Test func theOutcomeMayComeBeforeTheWait() async {
        let wait = Wait<Int>()
        #expect(wait.end(1))
        #expect(!wait.end(2), "the first outcome counts")
        #expect(await wait.outcome(until: .now - .seconds(1)) == 1, "an outcome that is there has no deadline")
        #expect(wait.isOver)
    }

    @Test func theOutcomeMayComeWhileACallerWaits() async {
        let wait = Wait<Int>()
        async let outcome = wait.outcome(until: far)
        await Task.yield()
        #expect(wait.end(1))
        #expect(await outcome == 1)
    }

    @Test func theDeadlineEndsAWait() async {
        let wait = Wait<Int>()
        #expect(await wait.outcome(until: .now) == nil)
        #expect(wait.isOver && !wait.end(1), "no caller gets an outcome that comes later")
    }

    @Test func aCancellationEndsAWait() async {
        let wait = Wait<Int>()
        let task = Task { [far] in await wait.outcome(until: far) }
        task.cancel()
        #expect(await task.value == nil)
        #expect(!wait.end(1))
    }

    /// An outcome, a deadline and a cancellation that come at once: either the caller gets the outcome, or `end` returns
    /// false.
    @Test func aWaitEndsOnce() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let wait = Wait<Int>()
                    let task = Task { await wait.outcome(until: .now + .microseconds(number % 50)) }
                    async let isFirst = wait.end(number)
                    if number % 3 == 0 { task.cancel() }
                    let outcome = await task.value
                    #expect(await isFirst == (outcome == number))
                }
            }
        }
    }
}

@Suite struct TurnsTests {
    private let far = ContinuousClock.now + .seconds(600)

    @Test func aCallerAloneAlwaysHasRoom() async {
        let turns = Turns(limit: 2)
        #expect(await turns.enter(5, until: far))
        #expect(await !turns.enter(1, until: .now))
        turns.leave(5)
        #expect(turns.used == 0 && turns.waiting == 0)
    }

    @Test func callersWaitInTheirOrder() async {
        let turns = Turns(limit: 2)
        #expect(await turns.enter(2, until: far))
        async let heavy = turns.enter(2, until: far)
        while turns.waiting < 1 { await Task.yield() }
        async let light = turns.enter(1, until: far)
        while turns.waiting < 2 { await Task.yield() }
        turns.leave(2)
        #expect(await heavy && turns.waiting == 1, "the light one has no room beside the heavy one")
        turns.leave(2)
        #expect(await light && turns.used == 1)
    }

    @Test func aCallerThatGivesUpLeavesItsPlaceToTheNext() async {
        let turns = Turns(limit: 2)
        #expect(await turns.enter(1, until: far))
        let heavy = Task { [far] in await turns.enter(2, until: far) }
        while turns.waiting < 1 { await Task.yield() }
        async let light = turns.enter(1, until: far)
        while turns.waiting < 2 { await Task.yield() }
        heavy.cancel()
        #expect(await !heavy.value)
        #expect(await light && turns.used == 2 && turns.waiting == 0)
    }

    @Test func roomIsLentSoOften() async {
        let turns = Turns(limit: 1)
        #expect(await turns.enter(until: far))
        #expect(turns.lend(most: 1))
        #expect(await turns.enter(until: far))
        #expect(!turns.lend(most: 1))
        turns.endLoan()
        turns.leave()
        #expect(turns.used == 0)
    }

    /// Many callers with deadlines and cancellations: the room is never overdrawn, and all of it comes back.
    @Test func theRoomIsNeverOverdrawn() async {
        let turns = Turns(limit: 3)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                let weight = 1 + number % 3
                group.addTask {
                    let task = Task {
                        guard await turns.enter(weight, until: .now + .milliseconds(number % 7)) else { return }
                        #expect(turns.used <= 3)
                        await Task.yield()
                        turns.leave(weight)
                    }
                    if number % 5 == 0 { task.cancel() }
                    await task.value
                }
            }
        }
        #expect(turns.used == 0 && turns.waiting == 0)
    }
}
