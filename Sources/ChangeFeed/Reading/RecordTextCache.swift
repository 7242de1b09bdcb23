import RecordStore
import Synchronization

/// Caches encoded records, so that clients that request the same change share one read.
///
/// Entries expire after a second, because foreign changes may follow.
final class RecordTextCache: Sendable {
    final class Text: Sendable {
        let change: SequencedChange
        /// The record as `FeedCodec` encodes it.
        let bytes: [UInt8]
        let isGone: Bool
        fileprivate let rules: String
        fileprivate let at: ContinuousClock.Instant

        init(
            _ bytes: [UInt8], isGone: Bool, of change: SequencedChange, under rules: String, at: ContinuousClock.Instant
        ) {
            self.change = change
            self.bytes = bytes
            self.isGone = isGone
            self.rules = rules
            self.at = at
        }

        fileprivate var cost: Int { bytes.count + RecordTextCache.overhead }
    }

    private struct State {
        /// The entries by the revision of their change, which is unique in a feed.
        var entries: [Int: Text] = [:]
        /// In the order of reading.
        var order: [Int] = []
        var first = 0
        var bytes = 0

        mutating func keep(_ text: Text) {
            bytes += text.cost
            if let former = entries.updateValue(text, forKey: text.change.revision) {
                bytes -= former.cost
            } else {
                order.append(text.change.revision)
            }
        }

        mutating func forget(olderThan age: Duration, overBytes most: Int, now: ContinuousClock.Instant) {
            while first < order.count {
                let oldest = order[first]
                guard let entry = entries[oldest] else { break }
                guard bytes > most || now - entry.at >= age else { break }
                entries[oldest] = nil
                bytes -= entry.cost
                first += 1
            }
            if first > 1_024, first * 2 > order.count {
                order.removeFirst(first)
                first = 0
            }
        }
    }

    private let state = Mutex(State())
    private let mostBytes: Int
    private static let age = Duration.seconds(1)
    private static let overhead = 200

    init(mostBytes: Int = 16 << 20) {
        self.mostBytes = mostBytes
    }

    /// Returns a text or nil for each change.
    ///
    /// One lookup serves a whole page, so that readers rarely wait for the lock.
    func texts(
        of changes: some Collection<SequencedChange>, under rules: String, now: ContinuousClock.Instant
    ) -> [Text?] {
        var texts = state.withLock { state in changes.map { state.entries[$0.revision] } }
        for (index, change) in changes.enumerated() {
            guard let text = texts[index] else { continue }
            if now - text.at >= Self.age || text.change.name != change.name || text.rules != rules {
                texts[index] = nil
            }
        }
        return texts
    }

    func keep(_ texts: [Text], now: ContinuousClock.Instant) {
        if texts.isEmpty { return }
        state.withLock { state in
            for text in texts { state.keep(text) }
            state.forget(olderThan: Self.age, overBytes: mostBytes, now: now)
        }
    }
}
