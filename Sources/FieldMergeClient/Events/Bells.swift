import Synchronization

/// Tells those who wait that something has happened; what it is they look up themselves.
final class Bells: Sendable {
    /// Something that may happen.
    enum Topic: Hashable {
        case outcomes, events, status
        case resource(String)
    }

    private struct State {
        var next = 0
        var waiting: [Topic: [Int: AsyncStream<Void>.Continuation]] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns a stream that has an element after each ringing; several that nobody awaited are one.
    func subscribe(to topic: Topic) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number: Int? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.next += 1
            state.waiting[topic, default: [:]][state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.waiting[topic]?.removeValue(forKey: number) }
        }
        return stream
    }

    /// Wakes those who wait for something.
    func ring(_ topic: Topic) {
        for continuation in state.withLock({ $0.waiting[topic]?.values.map { $0 } ?? [] }) { continuation.yield() }
    }

    /// Wakes everyone for what follows from a transaction.
    func ring(_ effects: LedgerEffects) {
        if effects.hasEvents { ring(.events) }
        if effects.hasOutcomes { ring(.outcomes) }
        for resource in Set(effects.touched.map(\.resource)) { ring(.resource(resource)) }
        if !effects.touched.isEmpty || effects.hasEvents { ring(.status) }
    }

    /// Wakes those who observe records, whichever they are.
    func ringAll() {
        for topic in state.withLock({ Array($0.waiting.keys) }) { ring(topic) }
    }

    /// Ends every stream.
    func finish() {
        let all = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting.values.flatMap(\.values)
        }
        for continuation in all { continuation.finish() }
    }
}
