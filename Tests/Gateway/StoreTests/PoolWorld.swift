@testable import MariaDBStore
import RecordStore
import TestSupport

/// A pool with callers, as `ConnectionPool` runs it, without threads or time.
struct PoolWorld: SteppedWorld {
    enum Caller: Hashable {
        case away
        case waits(UInt64)
        /// It opens a connection itself.
        case opens
        case uses(Int)
    }

    enum Step {
        case acquire(Int)
        case opened(Int)
        case openingFails(Int)
        /// The deadline of a caller is over while it opens a connection. The opening continues.
        case openingIsLate(Int)
        case lateOpened
        case lateOpeningFails
        case returns(Int)
        case breaks(Int)
        case givesUp(Int)
        case close
    }

    private let bound: Int
    private let mostWaiters: Int
    private var pool: PoolState<Int>
    private var callers: [Caller]
    private var idle: Set<Int> = []
    private var lateOpenings = 0
    private var lastWaiter: UInt64 = 0
    private var lastConnection = 0
    private var isClosed = false
    private var isCalm = false

    init(_ random: inout SeededRandom) {
        bound = Int.random(in: 1...3, using: &random)
        mostWaiters = Int.random(in: 1...4, using: &random)
        pool = PoolState(maximumConnections: bound, maximumWaiters: mostWaiters)
        callers = Array(repeating: .away, count: Int.random(in: 2...7, using: &random))
    }

    mutating func calm() { isCalm = true }

    var isDone: Bool { isCalm && lateOpenings == 0 && callers.allSatisfy { $0 == .away } }

    var steps: [Step] {
        var steps: [Step] = []
        for (index, caller) in callers.enumerated() {
            switch caller {
            case .away: if !isCalm { steps.append(.acquire(index)) }
            // Without faults a deadline must not be needed: another caller has to release its connection.
            case .waits: if !isCalm { steps.append(.givesUp(index)) }
            case .opens: steps += [.opened(index)] + (isCalm ? [] : [.openingFails(index), .openingIsLate(index)])
            case .uses: steps += [.returns(index), .returns(index)] + (isCalm ? [] : [.breaks(index)])
            }
        }
        if lateOpenings > 0 { steps += [.lateOpened, .lateOpeningFails] }
        if !isCalm, !isClosed, lastWaiter > 20 { steps.append(.close) }
        return steps
    }

    mutating func take(_ step: Step) throws(WorldFault) {
        switch step {
        case .acquire(let index): try acquire(index)
        case .opened(let index):
            lastConnection += 1
            callers[index] = .uses(lastConnection)
        case .openingFails(let index):
            callers[index] = .away
            try pass(pool.discard())
        case .openingIsLate(let index):
            callers[index] = .away
            lateOpenings += 1
        case .lateOpened:
            lateOpenings -= 1
            lastConnection += 1
            try release(lastConnection)
        case .lateOpeningFails:
            lateOpenings -= 1
            try pass(pool.discard())
        case .returns(let index):
            guard case .uses(let connection) = callers[index] else { break }
            callers[index] = .away
            try release(connection)
        case .breaks(let index):
            callers[index] = .away
            idle.subtract(pool.dropIdle())
            try pass(pool.discard())
        case .givesUp(let index):
            guard case .waits(let waiter) = callers[index] else { break }
            guard pool.giveUp(waiter) else { throw WorldFault("caller \(index) waits, and the pool has forgotten it") }
            callers[index] = .away
        case .close: try close()
        }
        try check()
    }

    private mutating func acquire(_ index: Int) throws(WorldFault) {
        lastWaiter += 1
        switch pool.acquire(waiter: lastWaiter) {
        case .use(let connection):
            guard idle.remove(connection) != nil else { throw WorldFault("connection \(connection) was not idle") }
            callers[index] = .uses(connection)
        case .open: callers[index] = .opens
        case .wait: callers[index] = .waits(lastWaiter)
        case .refuseFull:
            let waiting = callers.count { if case .waits = $0 { true } else { false } }
            guard waiting == mostWaiters else { throw WorldFault("only \(waiting) callers wait") }
        case .refuseClosed: if !isClosed { throw WorldFault("the pool is not closed") }
        }
    }

    private mutating func release(_ connection: Int) throws(WorldFault) {
        switch pool.release(connection) {
        case .handOver(let handed, let waiter): callers[try caller(waiter)] = .uses(handed)
        case .keep: idle.insert(connection)
        case .close: if !isClosed { throw WorldFault("a connection was closed without need") }
        }
    }

    private mutating func pass(_ waiter: UInt64?) throws(WorldFault) {
        if let waiter { callers[try caller(waiter)] = .opens }
    }

    private func caller(_ waiter: UInt64) throws(WorldFault) -> Int {
        guard let index = callers.firstIndex(of: .waits(waiter)) else { throw WorldFault("waiter \(waiter) has left") }
        return index
    }

    private mutating func close() throws(WorldFault) {
        let closing = pool.close()
        isClosed = true
        guard Set(closing.connections) == idle else { throw WorldFault("an idle connection stays open") }
        idle = []
        for waiter in closing.waiters { callers[try caller(waiter)] = .away }
    }

    private func check() throws(WorldFault) {
        let counts = pool.counts
        let used = callers.count { if case .uses = $0 { true } else { $0 == .opens } } + lateOpenings
        let waiting = callers.count { if case .waits = $0 { true } else { false } }
        guard counts.used == used, counts.open == used + idle.count, counts.waiting == waiting else {
            throw WorldFault("the pool counts \(counts), and \(used) are used, \(idle.count) idle, \(waiting) waiting")
        }
        guard counts.open <= bound else { throw WorldFault("\(counts.open) connections are open") }
        let connections = callers.compactMap { if case .uses(let one) = $0 { one } else { nil } }
        guard Set(connections).count == connections.count, idle.isDisjoint(with: connections) else {
            throw WorldFault("two have one connection")
        }
        guard waiting == 0 || (idle.isEmpty && counts.open == bound) else {
            throw WorldFault("a caller waits although there is room")
        }
    }
}
