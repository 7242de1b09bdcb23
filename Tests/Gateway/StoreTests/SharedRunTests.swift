import RecordStore
import Synchronization
import Testing
import TestSupport

/// Work that runs once at a time.
@Suite(.timeLimit(.minutes(1))) struct SharedRunTests {
    /// A run that ends at the test's command, and counts its beginnings.
    private final class Held: Sendable {
        let run = SharedRun<Int>()
        let begun = Atomic<Int>(0)
        private let end = Wait<Void>()
        private let started = Wait<Void>()

        func outcome() async -> Int { await run.outcome(of: work) }

        func outcome(ifAllowed mayBegin: Bool) async -> Int? { await run.outcome(of: work) { mayBegin } }

        private func work() async -> Int {
            let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
            started.end(())
            _ = await end.outcome(until: .now + .seconds(50))
            return number
        }

        func waitForStart() async { _ = await started.outcome(until: .now + .seconds(50)) }

        func finish() { end.end(()) }
    }

    @Test("Many callers at once never run the work simultaneously, and each gets the outcome of one run")
    func oneAtATime() async {
        let run = SharedRun<Int>()
        let running = Atomic<Int>(0)
        let begun = Atomic<Int>(0)
        let work = { @Sendable () async -> Int in
            #expect(running.wrappingAdd(1, ordering: .relaxed).newValue == 1)
            let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
            await Task.yield()
            running.wrappingSubtract(1, ordering: .relaxed)
            return number
        }
        let outcomes = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<500 { group.addTask { await run.outcome(of: work) } }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(outcomes == Set(1...begun.load(ordering: .relaxed)))
    }

    @Test("A run does not begin if its condition is false")
    func condition() async {
        let held = Held()
        held.finish()
        #expect(await held.outcome(ifAllowed: false) == nil)
        #expect(await held.outcome(ifAllowed: true) == 1)
    }

    @Test("A cancelled caller does not end the run for other callers")
    func cancellation() async {
        let held = Held()
        let cancelled = Task { await held.outcome() }
        await held.waitForStart()
        cancelled.cancel()
        held.finish()
        #expect(await cancelled.value == 1)
    }
}

/// Work that a cancellation does not end.
@Suite(.timeLimit(.minutes(1))) struct WithoutCancellationTests {
    @Test("Work of a cancelled task is not cancelled")
    func work() async {
        let wasCancelled = Mutex(true)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            await withoutCancellation { wasCancelled.withLock { $0 = Task.isCancelled } }
        }
        task.cancel()
        await task.value
        #expect(wasCancelled.withLock { !$0 })
    }
}
