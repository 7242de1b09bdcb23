import Testing

@testable import MariaDBStore

/// Threads of connections that open and close.
@Suite(.timeLimit(.minutes(2))) struct ConnectionThreadTests {
    /// An actor on such a thread.
    ///
    /// It ends the thread like a connection.
    private actor Worker {
        private let thread: ConnectionThread
        private var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init() throws { thread = try ConnectionThread() }

        isolated deinit { thread.stop() }

        func add() -> Int {
            count += 1
            return count
        }
    }

    /// The last job may run before its caller returns.
    ///
    /// The thread remains valid until then.
    @Test("The last job may end the thread")
    func lastJob() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sum = 0
                    for _ in 0..<1_000 {
                        let worker = try Worker()
                        async let one = worker.add()
                        async let other = worker.add()
                        sum += await one + other
                    }
                    return sum
                }
            }
            let sum = try await group.reduce(0, +)
            #expect(sum == 4 * 1_000 * 3)
        }
    }
}
