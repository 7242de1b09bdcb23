import RecordStore
import Testing

/// One wait, and all that may end it.
@Suite struct WaitTests {
    private let far = ContinuousClock.now + .seconds(600)

    @Test("The outcome may precede the wait")
    func before() async {
        let wait = Wait<Int>()
        #expect(wait.end(1))
        #expect(!wait.end(2), "the first outcome counts")
        #expect(await wait.outcome(until: .now - .seconds(1)) == 1, "an outcome that is there has no deadline")
        #expect(wait.isOver)
    }

    @Test("The outcome may arrive while a caller waits")
    func during() async {
        let wait = Wait<Int>()
        async let outcome = wait.outcome(until: far)
        await Task.yield()
        #expect(wait.end(1))
        #expect(await outcome == 1)
    }

    @Test("The deadline ends a wait")
    func deadline() async {
        let wait = Wait<Int>()
        #expect(await wait.outcome(until: .now) == nil)
        #expect(wait.isOver && !wait.end(1), "no caller gets an outcome that comes later")
    }

    @Test("A cancellation ends a wait")
    func cancellation() async {
        let wait = Wait<Int>()
        let task = Task { [far] in await wait.outcome(until: far) }
        task.cancel()
        #expect(await task.value == nil)
        #expect(!wait.end(1))
    }

    /// An outcome, a deadline and a cancellation at the same time: either the caller gets the outcome, or `end` returns
    /// false.
    @Test("A wait ends once")
    func once() async {
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

    @Test("Work that began continues after the deadline, and its late outcome is not dropped")
    func lateWork() async {
        let (wait, go, late) = (Wait<Int>(), Wait<Void>(), Wait<Int>())
        wait.begin {
            _ = await go.outcome(until: .now + .seconds(50))
            return 1
        } late: {
            late.end($0)
        }
        #expect(await wait.outcome(until: .now) == nil)
        go.end(())
        #expect(await late.outcome(until: .now + .seconds(50)) == 1)
    }
}
