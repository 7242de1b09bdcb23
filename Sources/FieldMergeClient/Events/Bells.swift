import Synchronization

/// Notifies waiting tasks of changes; a task reads the changed value itself.
final class Bells: Sendable {
    /// Something that may happen.
    enum Topic: Hashable {
        case outcomes, events, status, indexes
        /// Records of any resource.
        case records
        case resource(String)
    }

    private struct State {
        var next = 0
        var waiting: [Topic: [Int: AsyncStream<Void>.Continuation]] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns a stream with an element for each notification; unread ones become one.
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

    /// Notifies the observers of a topic.
    func ring(_ topic: Topic) {
        for continuation in state.withLock({ $0.waiting[topic]?.values.map { $0 } ?? [] }) { continuation.yield() }
    }

    /// Notifies the observers of a transaction's effects.
    func ring(_ effects: LedgerEffects) {
        if effects.concernsAll { return ringAll() }
        if effects.hasEvents { ring(.events) }
        if effects.hasOutcomes { ring(.outcomes) }
        for resource in Set(effects.touched.map(\.resource)) { ring(.resource(resource)) }
        if !effects.touched.isEmpty || effects.hasEvents { ring(.status) }
        if !effects.touched.isEmpty { ring(.indexes) }
        if !effects.touched.isEmpty { ring(.records) }
    }

    /// Notifies all observers of records.
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
