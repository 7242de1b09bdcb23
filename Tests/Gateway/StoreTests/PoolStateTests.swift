@testable import MariaDBStore
import Testing

/// The pool without connections, threads or time.
@Suite struct PoolStateTests {
    @Test("The pool opens connections up to its limit, and then callers wait")
    func limit() {
        var pool = PoolState<Int>(maximumConnections: 2, maximumWaiters: 1)
        guard case .open = pool.acquire(waiter: 1), case .open = pool.acquire(waiter: 2) else {
            Issue.record("the pool did not open")
            return
        }
        guard case .wait = pool.acquire(waiter: 3), case .refuseFull = pool.acquire(waiter: 4) else {
            Issue.record("the third has to wait and the fourth to go")
            return
        }
        guard case .handOver(7, to: 3) = pool.release(7), case .keep = pool.release(8),
            case .use(8) = pool.acquire(waiter: 5)
        else {
            Issue.record("a connection goes to who waits, then to the shelf")
            return
        }
    }

    @Test("A suitable connection is used before the last released one, and that before others")
    func order() {
        var pool = PoolState<Int>(maximumConnections: 4, maximumWaiters: 1)
        for waiter in 1...3 { _ = pool.acquire(waiter: UInt64(waiter)) }
        for connection in [1, 2, 3] { _ = pool.release(connection) }
        var taken: [Int] = []
        for wanted in [1, 9, 9] {
            guard case .use(let connection) = pool.acquire(waiter: 9, suits: { $0 == wanted }) else { break }
            taken.append(connection)
        }
        #expect(taken == [1, 3, 2])
        guard case .open = pool.acquire(waiter: 9, suits: { _ in true }) else {
            Issue.record("no connection is idle")
            return
        }
    }

    @Test("A broken connection is replaced")
    func broken() {
        var pool = PoolState<Int>(maximumConnections: 1, maximumWaiters: 9)
        _ = pool.acquire(waiter: 1)
        _ = pool.acquire(waiter: 2)
        _ = pool.acquire(waiter: 3)
        let gaveUp = [pool.giveUp(2), pool.giveUp(2)]
        #expect(gaveUp == [true, false])
        let next = [pool.discard(), pool.discard()]
        #expect(next == [3, nil])
        guard case .open = pool.acquire(waiter: 4) else {
            Issue.record("there is room again")
            return
        }
    }

    @Test("A closed pool refuses callers")
    func closed() {
        var pool = PoolState<Int>(maximumConnections: 1, maximumWaiters: 9)
        _ = pool.acquire(waiter: 1)
        _ = pool.acquire(waiter: 2)
        let closing = pool.close()
        #expect(closing.waiters == [2])
        guard case .refuseClosed = pool.acquire(waiter: 3), case .close(5) = pool.release(5) else {
            Issue.record("a closed pool returns no connection")
            return
        }
    }
}
