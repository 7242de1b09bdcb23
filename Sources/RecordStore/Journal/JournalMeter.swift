import MergeCore
import Synchronization

/// Counts the bytes that each sender writes to the journal through this gateway in a day.
package final class JournalMeter: Sendable {
    private struct Day {
        let start: ContinuousClock.Instant
        var bytes = 0
    }

    private struct State {
        var days: [ExactText: Day] = [:]
        var total = 0
    }

    private let state = Mutex(State())
    private static let day = Duration.seconds(86_400)
    /// The number of names above which names without a current day are removed; names come from the operator's tokens.
    private static let mostNames = 10_000

    /// Counts from zero.
    package init() {}

    /// The bytes written since the gateway started.
    package var total: Int { state.withLock { $0.total } }

    /// Returns the bytes of the current day of the senders with the most bytes, and the sum of the others.
    package func largest(_ count: Int) -> (senders: [(who: String, bytes: Int)], others: Int) {
        let days = state.withLock { state in state.days.map { (who: $0.key.string, bytes: $0.value.bytes) } }
        let sorted = days.sorted { ($1.bytes, $0.who) < ($0.bytes, $1.who) }
        return (Array(sorted.prefix(count)), sorted.dropFirst(count).reduce(0) { $0 + $1.bytes })
    }

    func add(_ bytes: Int, for who: String, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.total += bytes
            if state.days.count >= Self.mostNames { state.days = state.days.filter { now - $1.start < Self.day } }
            var day = state.days[ExactText(who)] ?? Day(start: now)
            if now - day.start >= Self.day { day = Day(start: now) }
            day.bytes += bytes
            state.days[ExactText(who)] = day
        }
    }

    /// Returns the time until a sender may write again; nil if it is below the daily limit of bytes.
    package func wait(
        of who: String, past limit: Int, at now: ContinuousClock.Instant = .now
    ) -> Duration? {
        guard let day = state.withLock({ $0.days[ExactText(who)] }), day.bytes >= limit else { return nil }
        let left = Self.day - (now - day.start)
        return left > .zero ? left : nil
    }
}

extension JournalDraft {
    /// The approximate number of bytes in the journal.
    var byteCount: Int {
        let texts = (key?.utf8.count ?? 0) + (sender.device?.utf8.count ?? 0) + 128
        return entries.reduce(texts + (answer?.body.count ?? 0) + (refused?.body.count ?? 0) + (bareEntry?.count ?? 0))
        {
            $0 + $1.body.count + $1.record.utf8.count + 64
        }
    }

    /// The same draft with its long parts packed.
    var packed: JournalDraft {
        isShort ? self : withPackedParts
    }

    /// True if no part needs packing, as in nearly every push.
    private var isShort: Bool {
        (answer?.body.count ?? 0) < PackedBytes.shortest && (refused?.body.count ?? 0) < PackedBytes.shortest
            && entries.allSatisfy { $0.body.count < PackedBytes.shortest }
    }

    private var withPackedParts: JournalDraft {
        JournalDraft(
            sender: sender, key: key, name: name,
            answer: answer.map {
                KeptAnswer(
                    request: $0.request, status: $0.status, failure: $0.failure,
                    body: PackedBytes.pack($0.body))
            },
            refused: refused.map {
                RefusedBody(address: $0.address, body: PackedBytes.pack($0.body), reason: $0.reason)
            },
            entries: entries.map { entry in
                JournalEntry(
                    resource: entry.resource, record: entry.record, status: entry.status, outcomes: entry.outcomes,
                    rules: entry.rules, body: PackedBytes.pack(entry.body), changed: entry.changed,
                    steps: entry.steps)
            }, bareEntry: bareEntry)
    }
}
