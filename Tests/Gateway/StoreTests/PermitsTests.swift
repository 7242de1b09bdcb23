import RecordStore
import Testing

/// The semaphore with weights.
@Suite struct PermitsTests {
    private let far = ContinuousClock.now + .seconds(600)

    @Test("A single caller always gets its permits")
    func singleCaller() async {
        let permits = Permits(limit: 2)
        #expect(await permits.acquire(5, until: far))
        #expect(await !permits.acquire(1, until: .now))
        permits.release(5)
        #expect(permits.used == 0 && permits.waiting == 0)
    }

    @Test("Callers wait in their order")
    func order() async {
        let permits = Permits(limit: 2)
        #expect(await permits.acquire(2, until: far))
        async let heavy = permits.acquire(2, until: far)
        while permits.waiting < 1 { await Task.yield() }
        async let light = permits.acquire(1, until: far)
        while permits.waiting < 2 { await Task.yield() }
        permits.release(2)
        #expect(await heavy && permits.waiting == 1, "both permits are in use")
        permits.release(2)
        #expect(await light && permits.used == 1)
    }

    @Test("The next caller does not wait for a cancelled one")
    func cancelled() async {
        let permits = Permits(limit: 2)
        #expect(await permits.acquire(1, until: far))
        let heavy = Task { [far] in await permits.acquire(2, until: far) }
        while permits.waiting < 1 { await Task.yield() }
        async let light = permits.acquire(1, until: far)
        while permits.waiting < 2 { await Task.yield() }
        heavy.cancel()
        #expect(await !heavy.value)
        #expect(await light && permits.used == 2 && permits.waiting == 0)
    }

    @Test("The number of early releases is limited")
    func earlyReleases() async {
        let permits = Permits(limit: 1)
        #expect(await permits.acquire(until: far))
        #expect(permits.releaseEarly(limit: 1))
        #expect(await permits.acquire(until: far))
        #expect(!permits.releaseEarly(limit: 1))
        permits.endEarlyRelease()
        permits.release()
        #expect(permits.used == 0)
    }

    /// Many callers with deadlines and cancellations: no permit is used twice, and all are returned.
    @Test("No permit is used twice")
    func histories() async {
        let permits = Permits(limit: 3)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                let weight = 1 + number % 3
                group.addTask {
                    let task = Task {
                        guard await permits.acquire(weight, until: .now + .milliseconds(number % 7)) else { return }
                        #expect(permits.used <= 3)
                        await Task.yield()
                        permits.release(weight)
                    }
                    if number % 5 == 0 { task.cancel() }
                    await task.value
                }
            }
        }
        #expect(permits.used == 0 && permits.waiting == 0)
    }
}
