import MergeCore
import Synchronization

/// Counts what each sender leaves in the journal through this gateway, a day at a time.
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
    /// The names come from the operator's tokens; more than these are not told apart for long.
    private static let mostNames = 10_000

    /// Counts from zero.
    package init() {}

    /// Bytes that were written since the gateway began.
    package var total: Int { state.withLock { $0.total } }

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

    /// Returns how long a sender has to wait that has left so many bytes in a day; nil where it has not.
    package func wait(
        of who: String, past limit: Int, at now: ContinuousClock.Instant = .now
    ) -> Duration? {
        guard let day = state.withLock({ $0.days[ExactText(who)] }), day.bytes >= limit else { return nil }
        let left = Self.day - (now - day.start)
        return left > .zero ? left : nil
    }
}

extension JournalDraft {
    /// About the bytes that it takes in the journal.
    var byteCount: Int {
        let texts = (key?.utf8.count ?? 0) + (sender.device?.utf8.count ?? 0) + 128
        return entries.reduce(texts + (answer?.body.count ?? 0) + (refused?.body.count ?? 0)) {
            $0 + $1.body.count + $1.record.utf8.count + 64
        }
    }

    /// The same with its long parts packed.
    var packed: JournalDraft {
        isShort ? self : withPackedParts
    }

    /// Nothing of it would be packed, as of nearly every push.
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
            })
    }
}
