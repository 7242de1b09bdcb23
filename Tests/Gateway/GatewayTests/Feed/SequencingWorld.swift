import TestSupport

@testable import ChangeFeed

/// Gateways that assign revisions to rows of `pending`, as `ChangeFeed` does, and a server that commits in any order.
struct SequencingWorld: SteppedWorld {
    struct Gateway {
        var numbers = SequencedNumbers()
        var watch = PendingWatch()
        var isAlive = true
    }

    enum Step {
        case begin
        case commit(Int)
        case rollback(Int)
        case look(gateway: Int, isUrgent: Bool)
        case clock(milliseconds: Int)
        case kill(gateway: Int)
    }

    /// The time for which a gateway that assigns revisions excludes the others.
    private static let hold = Duration.seconds(2)

    private var gateways: [Gateway]
    private var now = ContinuousClock.now
    private var lastNumber = 0
    private var open: Set<Int> = []
    /// Rows that are committed and have no revision.
    private var pending: Set<Int> = []
    private var sequenced: Set<Int> = []
    private var holder: (gateway: Int, until: ContinuousClock.Instant)?
    private var isCalm = false

    init(_ random: inout SeededRandom) {
        gateways = Array(repeating: Gateway(), count: Int.random(in: 1...3, using: &random))
    }

    mutating func calm() { isCalm = true }

    var isDone: Bool { isCalm && open.isEmpty && pending.isEmpty }

    var steps: [Step] {
        var steps: [Step] = [.clock(milliseconds: 100), .clock(milliseconds: 1_000)]
        let alive = gateways.indices.filter { gateways[$0].isAlive }
        for gateway in alive {
            steps += [.look(gateway: gateway, isUrgent: false), .look(gateway: gateway, isUrgent: false)]
            if !isCalm { steps.append(.look(gateway: gateway, isUrgent: true)) }
        }
        for number in open.sorted() { steps += [.commit(number)] + (isCalm ? [] : [.rollback(number)]) }
        if isCalm { return steps }
        steps += [.begin, .begin, .begin, .clock(milliseconds: 30_000), .clock(milliseconds: 61_000)]
        if alive.count > 1 { steps.append(.kill(gateway: alive[0])) }
        return steps
    }

    mutating func take(_ step: Step) throws(WorldFault) {
        switch step {
        case .begin:
            lastNumber += 1
            open.insert(lastNumber)
        case .commit(let number):
            open.remove(number)
            pending.insert(number)
        case .rollback(let number): open.remove(number)
        case .clock(let milliseconds): now += .milliseconds(milliseconds)
        case .kill(let gateway): gateways[gateway].isAlive = false
        case .look(let gateway, let isUrgent): try look(gateway, isUrgent)
        }
    }

    private mutating func look(_ index: Int, _ isUrgent: Bool) throws(WorldFault) {
        let start = gateways[index].numbers.start(now: now)
        let found = pending.filter { $0 > start }.sorted()
        let isFree = holder.map { $0.gateway == index || $0.until < now } ?? true
        let isTurn = gateways[index].watch.looks(at: found.first, isFree: isFree, isUrgent: isUrgent)
        guard isTurn, let last = found.last else { return }
        for number in found where !sequenced.insert(number).inserted {
            throw WorldFault("row \(number) has two revisions")
        }
        pending.subtract(found)
        holder = (index, now + Self.hold)
        gateways[index].numbers.note(last, now: now)
    }
}
